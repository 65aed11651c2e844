/* How far the recurrent layers of a checkpoint remember: the table `decays`. */
#ifndef SZG_CHECKPOINT_DECAY_H
#define SZG_CHECKPOINT_DECAY_H

#include "decay_family.h"
#include "part.h"

/* Tensors of a recurrent layer that are read. */
enum { DECAY_RATE, DECAY_SHIFT, DECAY_WEIGHT, DECAY_DOWN, DECAY_GAIN, DECAY_BIAS, DECAY_TENSORS };

/* Those of a layer, by the names of the family's row; NULL where one is missing, or there is none.
 */
void szgi_decay_tensors(const szg_checkpoint *checkpoint, const decay_family *family,
                        const char *prefix, int64_t layer, const szgi_tensor *out[DECAY_TENSORS]);

/* Of a known architecture: the recurrent layers' row; NULL: it has none. */
const decay_family *szgi_decay_family_of(const szg_checkpoint *checkpoint);

/* Opens and fills `decays` if the model has recurrent layers that szego knows. part NULL: all
 * layers. What is wrong with a layer, or with a head, is said in its row and counted in `bad`. */
SZG_CHECK_RESULT szg_status szgi_decays_report(szg_context *context,
                                               const szg_checkpoint *checkpoint,
                                               const head_part *part,
                                               szg_checkpoint_tables *tables);

#endif
