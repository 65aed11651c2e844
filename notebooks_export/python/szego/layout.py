"""Structs, enumerators and functions of the headers in include/szego, as ctypes has them.

What stands here says again what the headers say. tests/peer/test_native.py compiles it against them, so that
neither drifts.
"""
import ctypes
import re

#: SZG_VERSION_NUMBER of the headers that this file repeats: MAJOR 10^6 + MINOR 10^3 + PATCH.
VERSION_NUMBER = 1000
SONAME = "libszego.so.0"

_I64, _F64, _INT, _PTR, _STR = (ctypes.c_int64, ctypes.c_double, ctypes.c_int, ctypes.c_void_p,
                                ctypes.c_char_p)


# ---- Structs: fields in the headers' order ------------------------------------------------------


class Struct(ctypes.Structure):
    """A struct of the headers; `c_name` is its name there. One with the field `size` is made with it set."""
    c_name = ""

    def __init__(self, **fields):
        super().__init__(**fields)
        if self._fields_[0][0] == "size":
            self.size = ctypes.sizeof(self)


class Interval(Struct):
    c_name = "szg_interval"
    _fields_ = [("lo", _F64), ("hi", _F64)]


class Range(Struct):
    c_name = "szg_range"
    _fields_ = [("min", Interval), ("max", Interval), ("theta_min", _F64), ("theta_max", _F64),
                ("method", _STR)]


class TableColumn(Struct):
    c_name = "szg_column"
    _fields_ = [("name", _STR), ("type", _INT), ("doc", _STR)]


class ContextOptions(Struct):
    c_name = "szg_context_options"
    _fields_ = [("size", ctypes.c_size_t), ("threads", _INT), ("message", _PTR), ("progress", _PTR),
                ("clock", _PTR), ("user", _PTR)]


class Factored(Struct):
    c_name = "szg_factored"
    _fields_ = [("n", _I64), ("d", _I64), ("a", _PTR), ("lda", _I64), ("b", _PTR), ("ldb", _I64),
                ("bias", _PTR), ("causal", ctypes.c_bool)]


class _Dense(ctypes.Structure):
    _fields_ = [("a", _PTR), ("lda", _I64)]


class _Cosines(ctypes.Structure):
    _fields_ = [("count", _I64), ("weight", _PTR), ("theta", _PTR), ("equal", _F64), ("constant", _F64)]


class _Of(ctypes.Union):
    _fields_ = [("dense", _Dense), ("complex_dense", _Dense), ("toeplitz", _PTR), ("factored", Factored),
                ("cosines", _Cosines), ("parameter", _F64), ("numbers", _PTR)]


class Matrix(Struct):
    c_name = "szg_matrix"
    _fields_ = [("kind", _INT), ("rows", _I64), ("columns", _I64), ("name", _STR), ("encoding", _PTR),
                ("head", _I64), ("index", _I64), ("of", _Of), ("own", _PTR)]


class SpectraOptions(Struct):
    c_name = "szg_spectra_options"
    _fields_ = [("size", ctypes.c_size_t), ("want", _INT), ("dense", ctypes.c_bool),
                ("certify", _INT), ("ends", _I64)]


class Spectrum(Struct):
    c_name = "szg_spectrum"
    _fields_ = [("n", _I64), ("count", _I64), ("zeros", _I64), ("rank", _I64), ("kind", _INT),
                ("re", ctypes.POINTER(_F64)), ("im", ctypes.POINTER(_F64)), ("normal", ctypes.c_bool),
                ("trace", _F64), ("frobenius", _F64), ("residual", _F64), ("residual_meaning", _STR),
                ("method", _INT), ("note", _STR), ("certified", ctypes.c_bool), ("min", Interval),
                ("max", Interval), ("lo", ctypes.POINTER(_F64)), ("hi", ctypes.POINTER(_F64)),
                ("error", ctypes.POINTER(_F64)), ("dropped", _F64)]


class KernelFacts(Struct):
    c_name = "szg_kernel_facts"
    _fields_ = [("matrix", _STR), ("form", _INT), ("definiteness", _INT), ("structure", _INT),
                ("kind", _INT), ("parameter", _F64), ("pairs", _I64), ("theta", ctypes.POINTER(_F64)),
                ("unrotated", _I64), ("rank_bound", _I64), ("rank_exact", ctypes.c_bool),
                ("summable", ctypes.c_bool), ("degree", _I64), ("tail_plus", _F64),
                ("tail_minus", _F64), ("line", _STR)]


class Hypotheses(Struct):
    c_name = "szg_hypotheses"
    _fields_ = [(name, ctypes.c_bool) for name in (
        "toeplitz", "zero", "hermitian", "finite_degree", "summable", "bounded", "integrable",
        "rank_one")]


class TheoremAnswer(Struct):
    c_name = "szg_theorem_answer"
    _fields_ = [("theorem", _INT), ("name", _STR), ("hypotheses", Hypotheses),
                ("sentence", ctypes.c_char * 512)]


class Tau(Struct):
    c_name = "szg_tau"
    _fields_ = [("value", _F64), ("error", _F64), ("sampled", ctypes.c_bool)]


class Summary(Struct):
    c_name = "szg_summary"
    _fields_ = [("n", _I64), ("rank", _I64), ("zeros", _I64), ("lambda_min", _F64), ("lambda_max", _F64),
                ("width", _F64), ("radius", _F64), ("sigma_min", _F64), ("sigma_max", _F64),
                ("condition", _F64), ("stable_rank", _F64), ("effective_rank", _F64), ("nuclear", _F64),
                ("frobenius", _F64), ("residual", _F64), ("residual_meaning", _STR), ("dropped", _F64),
                ("method", _INT), ("note", _STR)]


class ReportOptions(Struct):
    c_name = "szg_report_options"
    _fields_ = [("size", ctypes.c_size_t), ("all", ctypes.c_bool), ("dense", ctypes.c_bool),
                ("no_symbol", ctypes.c_bool), ("quick_symbol", ctypes.c_bool),
                ("hermitian_part", ctypes.c_bool), ("precision", _F64), ("samples", _I64),
                ("convention", _INT), ("certify", _INT)]


class MatrixReport(Struct):
    c_name = "szg_matrix_report"
    _fields_ = [("matrix", _STR), ("eigenvalues", Spectrum), ("singular", Spectrum),
                ("hermitian_part", ctypes.c_bool), ("summary", Summary), ("toeplitzness", Tau),
                ("convention", _INT), ("symbol", Range), ("modulus", ctypes.c_bool),
                ("toeplitz_part", ctypes.c_bool), ("samples", _I64), ("sample", ctypes.POINTER(_F64)),
                ("atoms", _I64), ("atom_theta", ctypes.POINTER(_F64)),
                ("atom_mass", ctypes.POINTER(_F64)), ("theorem", TheoremAnswer),
                ("note", ctypes.c_char * 2048), ("noise", ctypes.c_char * 192)]


class Majorisation(Struct):
    c_name = "szg_majorisation"
    _fields_ = [("order", _INT), ("strict", ctypes.c_bool), ("first_violation", _I64), ("margin", _F64),
                ("margin_at", _I64), ("rounding", _F64)]


class ContractionRatios(Struct):
    c_name = "szg_contraction_ratios"
    _fields_ = [("width", _F64), ("norm", _F64), ("nuclear", _F64), ("ordered", ctypes.c_bool),
                ("eigenvalues", Majorisation)]


class Contraction(Struct):
    c_name = "szg_contraction"
    _fields_ = [("n", _I64), ("ratios", ContractionRatios), ("content", MatrixReport),
                ("coupled", MatrixReport)]


class LogitsOptions(Struct):
    c_name = "szg_logits_options"
    _fields_ = [("size", ctypes.c_size_t), ("causal", ctypes.c_bool), ("unscaled", ctypes.c_bool)]


class KernelTables(Struct):
    c_name = "szg_kernel_tables"
    _fields_ = [("kernel", _PTR), ("extrema", _PTR)]


class ClaimsOptions(Struct):
    c_name = "szg_claims_options"
    _fields_ = [("size", ctypes.c_size_t), ("terms", _I64), ("trials", _I64), ("seed", ctypes.c_uint64)]


class ClaimsReport(Struct):
    c_name = "szg_claims_report"
    _fields_ = [(name, _PTR) for name in ("claims", "certificates", "lemma", "samples", "evidence")] + [
        ("differing", _I64)]


class CheckpointFacts(Struct):
    c_name = "szg_checkpoint_facts"
    _fields_ = [("source", _STR), ("unknown", _STR), ("model_type", _STR), ("stack", _STR), ("stacks", _STR),
                ("layers", _I64), ("heads", _I64), ("key_heads", _I64), ("head_size", _I64), ("model_size", _I64),
                ("positions", _INT), ("position_rows", _I64), ("rotary", ctypes.c_bool), ("note", _STR)]


class CheckpointChoices(Struct):
    c_name = "szg_checkpoint_choices"
    _fields_ = [("size", ctypes.c_size_t), ("config", _STR), ("prefix", _STR), ("stack", _STR), ("set", _PTR),
                ("sets", _I64), ("revision", _STR), ("adapter", _STR)]


class Tensor(Struct):
    c_name = "szg_tensor"
    _fields_ = [("name", _STR), ("dtype", _STR), ("dims", _I64), ("shape", _PTR), ("data", _PTR), ("refusal", _STR)]


#: szg_tensor_read: user, tensor, offset, bytes, out. Fields have this type: ctypes.cast would make a circle of
#: references.
TENSOR_READ = ctypes.CFUNCTYPE(_INT, _PTR, _I64, _I64, _I64, _PTR)


class Tensors(Struct):
    c_name = "szg_tensors"
    _fields_ = [("size", ctypes.c_size_t), ("name", _STR), ("config", _STR), ("tensor", _PTR), ("count", _I64),
                ("read", TENSOR_READ), ("user", _PTR)]


class CheckpointOptions(Struct):
    c_name = "szg_checkpoint_options"
    _fields_ = [("size", ctypes.c_size_t), ("positions", _I64), ("samples", _I64), ("dry_run", ctypes.c_bool),
                ("layers", _STR), ("heads", _STR), ("raw", ctypes.c_bool), ("kernel", _I64), ("top", _I64),
                ("seed", ctypes.c_uint64), ("context", _I64), ("circuits", ctypes.c_bool), ("lags", _PTR),
                ("lag_count", _I64), ("draws", _I64), ("kernel_only", ctypes.c_bool), ("token_counts", _PTR),
                ("token_count", _I64), ("journal", _STR)]


class CheckpointTables(Struct):
    c_name = "szg_checkpoint_tables"
    _fields_ = [(name, _PTR) for name in ("summary", "notes", "spectra", "frequencies", "kernel", "range", "samples",
                                          "tensors", "bounds", "architecture", "top", "heads", "layers", "circuits",
                                          "profiles", "profile_values", "mixtures", "decays")] + [
                                              ("bad", _I64), ("unconverged", _I64)]


#: Every struct above: what the test of layouts compares with the headers.
STRUCTS = (Interval, Range, ContextOptions, Factored, Matrix, SpectraOptions, Spectrum, KernelFacts,
           Hypotheses, TheoremAnswer, Tau, Summary, ReportOptions, MatrixReport, Majorisation,
           ContractionRatios, Contraction, LogitsOptions, TableColumn, KernelTables, ClaimsOptions,
           ClaimsReport, CheckpointFacts, CheckpointChoices, Tensor, Tensors, CheckpointOptions,
           CheckpointTables)

#: Enumerators by the words that Python's callers use; the test compares them too.
QUESTIONS = {"eigenvalues": ("SZG_QUESTION_EIGENVALUES", 0), "singular": ("SZG_QUESTION_SINGULAR", 1),
             "hermitian_part": ("SZG_QUESTION_HERMITIAN_PART", 2)}
WANTS = {"all": ("SZG_WANT_ALL", 0), "range": ("SZG_WANT_RANGE", 1)}
CONVENTIONS = {"truncated": ("SZG_SYMBOL_TRUNCATED", 0), "fejer": ("SZG_SYMBOL_FEJER", 1),
               "closed_form": ("SZG_SYMBOL_CLOSED_FORM", 2)}
PARTS = {"content": ("SZG_LOGITS_CONTENT", 0), "coupled": ("SZG_LOGITS_COUPLED", 1)}
FORMS = {"not_toeplitz": ("SZG_FORM_NOT_TOEPLITZ", 6)}
KINDS = {"singular": ("SZG_SPECTRUM_SINGULAR", 2)}
KERNEL_KINDS = {"hermitian": ("SZG_TOEPLITZ_HERMITIAN", 1), "complex": ("SZG_TOEPLITZ_COMPLEX", 3)}
ORDERS = {"holds": ("SZG_ORDER_HOLDS", 0)}
POSITIONS = {"none": ("SZG_POSITIONS_NONE", 0), "learned": ("SZG_POSITIONS_LEARNED", 1),
             "sinusoidal": ("SZG_POSITIONS_SINUSOIDAL", 2)}
PLACES = {"path": ("SZG_PLACE_PATH", 0), "hub": ("SZG_PLACE_HUB", 1), "fetched": ("SZG_PLACE_FETCHED", 2),
          "nowhere": ("SZG_PLACE_NOWHERE", 3)}
CONTEXTS = {"trained": ("SZG_CONTEXT_TRAINED", -1)}
COLUMN_TYPES = {"text": ("SZG_TEXT", 0), "integer": ("SZG_INTEGER", 1), "real": ("SZG_REAL", 2)}
STATUSES = {name: (name, value) for value, name in enumerate((
    "SZG_OK", "SZG_EINVAL", "SZG_EDATA", "SZG_EDOMAIN", "SZG_ENOCONV", "SZG_ENOMEM", "SZG_EIO",
    "SZG_ECANCEL", "SZG_EBACKEND", "SZG_EINTERNAL"))}
ENUMS = (QUESTIONS, WANTS, CONVENTIONS, PARTS, FORMS, KINDS, KERNEL_KINDS, ORDERS, POSITIONS, PLACES, CONTEXTS, COLUMN_TYPES, STATUSES)

# ---- Functions: the headers' own declarations ---------------------------------------------------

FUNCTIONS = """
int szg_version_number(void);
const char *szg_backend_blas(void);
const char *szg_backend_blas_core(void);
const char *szg_backend_blas_remedy(void);
const char *szg_backend_simd(void);
szg_status szg_context_open(const szg_context_options *options, szg_context **out);
void szg_context_close(szg_context **context);
const char *szg_context_message(const szg_context *context);
void szg_context_cancel(szg_context *context);
szg_status szg_encoding_parse(szg_context *context, const char *spec, szg_encoding **out);
void szg_encoding_close(szg_encoding **encoding);
const char *szg_encoding_spec(const szg_encoding *encoding);
szg_status szg_encoding_keys(szg_context *context, szg_table **out);
int64_t szg_encoding_heads(const szg_encoding *encoding);
int64_t szg_encoding_matrices(const szg_encoding *encoding);
szg_status szg_encoding_facts(szg_context *context, const szg_encoding *encoding, int64_t head, int64_t
    matrix, szg_kernel_facts *out);
szg_status szg_encoding_matrix(szg_context *context, const szg_encoding *encoding, int64_t head, int64_t
    matrix, int64_t n, szg_matrix *out);
szg_status szg_encoding_lags(szg_context *context, const szg_encoding *encoding, int64_t first, int64_t
    heads, int64_t matrix, int64_t n, double *re, double *im, double *spread);
szg_status szg_encoding_entries(szg_context *context, const szg_encoding *encoding, int64_t first, int64_t
    heads, int64_t matrix, int64_t n, double *re, double *im);
szg_status szg_kernel_tables_open(szg_context *context, szg_kernel_tables *out);
void szg_kernel_tables_close(szg_kernel_tables *tables);
szg_status szg_kernel_tables_add(szg_context *context, szg_kernel_tables *tables, const szg_encoding
    *encoding, int64_t head, int64_t matrix, int64_t n);
szg_status szg_toeplitz_open_symmetric(szg_context *context, int64_t n, int64_t count, const double *a,
    szg_toeplitz **out);
szg_status szg_toeplitz_open_hermitian(szg_context *context, int64_t n, int64_t count, const szg_c64 *a,
    szg_toeplitz **out);
szg_status szg_toeplitz_open_real(szg_context *context, int64_t n, int64_t count, const double *a,
    szg_toeplitz **out);
szg_status szg_toeplitz_open_complex(szg_context *context, int64_t n, int64_t count, const szg_c64 *a,
    szg_toeplitz **out);
void szg_toeplitz_close(szg_toeplitz **toeplitz);
szg_matrix szg_matrix_dense(int64_t m, int64_t n, const double *a, int64_t lda);
szg_matrix szg_matrix_symmetric(int64_t n, const double *a, int64_t lda);
szg_matrix szg_matrix_complex(int64_t m, int64_t n, const szg_c64 *a, int64_t lda);
szg_matrix szg_matrix_hermitian(int64_t n, const szg_c64 *a, int64_t lda);
szg_matrix szg_matrix_toeplitz(const szg_toeplitz *toeplitz);
szg_matrix szg_matrix_factored(const szg_factored *factored);
void szg_matrix_close(szg_matrix *matrix);
szg_status szg_spectrum_compute(szg_context *context, const szg_matrix *matrix, szg_question question,
    const szg_spectra_options *options, szg_spectrum *out);
szg_status szg_spectrum_batch(szg_context *context, int64_t count, const szg_matrix *matrices, szg_question
    question, const szg_spectra_options *options, szg_spectrum *out);
void szg_spectrum_close(szg_spectrum *spectrum);
const char *szg_method_name(szg_method method);
const char *szg_method_solver(szg_method method);
szg_status szg_symbol_compute(szg_context *context, const szg_matrix *matrix, const szg_report_options
    *options, szg_matrix_report *out);
void szg_matrix_report_close(szg_matrix_report *report);
szg_status szg_theorem_of_encoding(szg_context *context, const struct szg_kernel_facts *facts,
    szg_theorem_answer *answer);
szg_status szg_theorem_of_toeplitz(szg_context *context, const struct szg_toeplitz *toeplitz,
    szg_theorem_answer *answer);
szg_status szg_content_open_qk(szg_context *context, int64_t n, int64_t d, const double *q, int64_t ldq,
    const double *k, int64_t ldk, szg_content **out);
void szg_content_close(szg_content **content);
szg_status szg_logits_open(szg_context *context, const szg_encoding *encoding, int64_t head, const
    szg_content *content, int64_t n, const szg_logits_options *options, szg_logits **out);
void szg_logits_close(szg_logits **logits);
szg_matrix szg_logits_matrix(const szg_logits *logits, szg_logits_part part);
szg_status szg_contraction_compute(szg_context *context, const szg_matrix *content, const szg_matrix
    *coupled, const szg_report_options *options, szg_contraction *out);
void szg_contraction_close(szg_contraction *contraction);
const char *szg_contraction_content_kind(const szg_encoding *encoding);
szg_status szg_claims_verify(szg_context *context, const szg_claims_options *options, int64_t count, const
    char *const *ids, szg_claims_report *report);
void szg_claims_report_close(szg_claims_report *report);
szg_status szg_certificates_check(szg_context *context, const char *path, szg_table **results, int64_t
    *refused);
szg_status szg_checkpoint_open_chosen(szg_context *context, const char *path, const szg_checkpoint_choices
    *choices, szg_checkpoint **out);
szg_status szg_checkpoint_open_tensors(szg_context *context, const szg_tensors *tensors, const szg_checkpoint_choices
    *choices, szg_checkpoint **out);
void szg_checkpoint_close(szg_checkpoint **checkpoint);
szg_status szg_checkpoint_locate(szg_context *context, const char *path, const char *revision, szg_checkpoint_place *out);
szg_checkpoint_facts szg_checkpoint_describe(const szg_checkpoint *checkpoint);
szg_status szg_checkpoint_rotation_open(szg_context *context, const char *json, int64_t layer, szg_encoding **out);
szg_status szg_checkpoint_analyse(szg_context *context, const szg_checkpoint *checkpoint, const
    szg_checkpoint_options *options, szg_checkpoint_tables *out);
szg_status szg_checkpoint_bounds(szg_context *context, const szg_checkpoint *checkpoint, double unit, szg_table **out);
void szg_checkpoint_tables_close(szg_checkpoint_tables *tables);
const char *szg_version(void);
const char *szg_commit(void);
const char *szg_table_name(const szg_table *table);
int64_t szg_table_rows(const szg_table *table);
int64_t szg_table_columns(const szg_table *table);
const szg_column *szg_table_column(const szg_table *table, int64_t index);
void szg_table_get_texts(const szg_table *table, int64_t column, const char **values, bool *empty);
void szg_table_get_integers(const szg_table *table, int64_t column, int64_t *values, bool *empty);
void szg_table_get_reals(const szg_table *table, int64_t column, double *values, bool *empty);
void szg_table_close(szg_table **table);
"""

# ---- Training ----------------------------------------------------------------------------------

_BOOL, _TEXT = ctypes.c_bool, ctypes.c_char * 1024


class IndexList(Struct):
    c_name = "szg_index_list"
    _fields_ = [("all", _BOOL), ("count", _I64), ("index", _I64 * 64)]


class ModelConfig(Struct):
    c_name = "szg_model_config"
    _fields_ = [("encoding", _TEXT), ("vocabulary", _I64), ("width", _I64), ("hidden", _I64), ("layers", _I64),
                ("heads", _I64), ("max_length", _I64), ("mask", _INT), ("mask_padding", _BOOL),
                ("keys_values", _INT), ("pooling", _INT), ("final_norm", _BOOL), ("activation", _INT),
                ("dropout", _F64), ("dropout_attention", _BOOL), ("dropout_attention_output", _BOOL),
                ("dropout_hidden", _BOOL), ("dropout_feed_forward", _BOOL), ("added_sinusoid", _INT),
                ("position_table", _INT), ("extra_position_table", _BOOL), ("biases", _INT), ("classes", _INT),
                ("ignored_label", _I64), ("rotated_layers", IndexList), ("latent_query", _I64),
                ("latent_kv", _I64), ("rotary_queries", _INT), ("latent_rotation", _INT)]


class DataConfig(Struct):
    c_name = "szg_data_config"
    _fields_ = [("task", _INT), ("train_file", _TEXT), ("test_file", _TEXT), ("examples", _I64),
                ("seed", ctypes.c_uint64), ("train_part", _F64)] + [(name, _I64) for name in (
                    "between_min", "between_max", "side_min", "side_max", "longest")] + [
                        ("clean_labels", _BOOL)] + [(name, _I64) for name in (
                            "test_between_min", "test_between_max", "words", "count_max", "triggers",
                            "test_words")]


class LoopConfig(Struct):
    c_name = "szg_loop_config"
    _fields_ = [("batch", _I64), ("epochs", _I64), ("limit_steps", _I64)] + [(name, _F64) for name in (
        "learning_rate", "warmup", "beta1", "beta2", "eps", "decay")] + [
            ("checkpoint_every", _I64), ("evaluate_batch", _I64), ("time_products", _BOOL)]


class CaptureConfig(Struct):
    c_name = "szg_capture_config"
    _fields_ = [("every", _I64), ("layers", IndexList), ("heads", IndexList), ("probes", _I64),
                ("spectra", _BOOL), ("dump", _BOOL), ("until", _I64)]


class InterventionConfig(Struct):
    c_name = "szg_intervention_config"
    _fields_ = [("kind", _INT), ("layer", _I64), ("head", _I64), ("from", _F64)]


class CurvatureConfig(Struct):
    c_name = "szg_curvature_config"
    _fields_ = [("every", _I64), ("until", _I64), ("examples", _I64)]


class TrainConfig(Struct):
    c_name = "szg_train_config"
    _fields_ = [("profile", _INT), ("model", ModelConfig), ("data", DataConfig), ("loop", LoopConfig),
                ("capture", CaptureConfig), ("intervention", InterventionConfig), ("curvature", CurvatureConfig)]


class Examples(Struct):
    c_name = "szg_examples"
    _fields_ = [("count", _I64), ("longest", _I64), ("largest_token", ctypes.c_int32),
                ("largest_label", ctypes.c_int32), ("start", _PTR), ("tokens", _PTR), ("label", _PTR)]


class Dataset(Struct):
    c_name = "szg_dataset"
    _fields_ = [("train", Examples), ("test", Examples), ("duplicates", _I64), ("classes", _I64)]


class TrainOptions(Struct):
    c_name = "szg_train_options"
    _fields_ = [("size", ctypes.c_size_t), ("config", _PTR), ("data", _PTR), ("seed", ctypes.c_uint64),
                ("folder", _STR), ("resume", _BOOL), ("captured", _PTR), ("user", _PTR)]


class TrainResult(Struct):
    c_name = "szg_train_result"
    _fields_ = [(name, _I64) for name in ("steps", "epochs", "parameters")] + [(name, _F64) for name in (
        "train_loss", "train_accuracy", "test_loss", "test_accuracy", "best_accuracy", "seconds",
        "tokens_per_second", "capture_seconds")]


class TrainTables(Struct):
    c_name = "szg_train_tables"
    _fields_ = [(name, _PTR) for name in ("metrics", "timing", "contraction", "values", "symbols", "curvature")]


class CapturedLogits(Struct):
    c_name = "szg_captured_logits"
    _fields_ = [(name, _I64) for name in ("probe", "layer", "head", "n")] + [("content", _PTR),
                                                                             ("coupled", _PTR)]


class CapturedStep(Struct):
    c_name = "szg_captured_step"
    _fields_ = [("step", _I64), ("content_kind", _STR), ("count", _I64),
                ("logits", ctypes.POINTER(CapturedLogits)), ("contraction", _PTR), ("values", _PTR),
                ("symbols", _PTR)]


#: szg_captured_fn
CAPTURED = ctypes.CFUNCTYPE(None, _PTR, ctypes.POINTER(CapturedStep), _PTR)

STRUCTS += (IndexList, ModelConfig, DataConfig, LoopConfig, CaptureConfig, InterventionConfig, CurvatureConfig,
            TrainConfig, Examples, Dataset, TrainOptions, TrainResult, TrainTables, CapturedLogits, CapturedStep)

FUNCTIONS += """
szg_status szg_train_config_read(szg_context *context, const char *path, const char *const *overrides, int64_t
    count, szg_train_config *out);
szg_status szg_dataset_open(szg_context *context, const szg_train_config *config, szg_dataset *out);
void szg_dataset_close(szg_dataset *dataset);
szg_status szg_train_run(szg_context *context, const szg_train_options *options, szg_train_result *out);
szg_status szg_train_tables_read(szg_context *context, const char *folder, szg_train_tables *out);
void szg_train_tables_close(szg_train_tables *tables);
szg_status szg_result_open(szg_context *context, const char *command, szg_result **out);
void szg_result_close(szg_result **result);
szg_status szg_result_add(szg_context *context, szg_result *result, szg_table **table);
szg_status szg_result_write(szg_context *context, const szg_result *result, const char *path, const char
    *table);
"""

# ---- Presets ------------------------------------------------------------------------------------


class ReproductionOptions(Struct):
    c_name = "szg_reproduction_options"
    _fields_ = [("size", ctypes.c_size_t), ("preset", _STR), ("overrides", _PTR), ("override_count", _I64),
                ("folder", _STR)]


STRUCTS += (ReproductionOptions,)

FUNCTIONS += """
szg_status szg_reproduction_open(szg_context *context, const szg_reproduction_options *options, szg_reproduction
    **out);
void szg_reproduction_close(szg_reproduction **reproduction);
"""

# ---- Statistics of a softmax --------------------------------------------------------------------


class StatisticsOptions(Struct):
    c_name = "szg_statistics_options"
    _fields_ = [("size", ctypes.c_size_t), ("causal", _BOOL), ("soft_cap", _F64), ("scale", _F64),
                ("sinks", _I64), ("sink", _PTR), ("sink_logit", _PTR), ("exact", _BOOL)]


class Statistics(Struct):
    c_name = "szg_statistics"
    _fields_ = [("n", _I64), ("largest", _F64), ("smallest", _F64)] + [(name, _I64) for name in (
        "largest_query", "largest_key", "smallest_query", "smallest_key")] + [(name, _F64) for name in (
            "error", "entropy_mean", "entropy_normalised", "entropy_min", "entropy_max")] + [
                (name, _I64) for name in ("entropy_min_query", "entropy_max_query")] + [
                    (name, _F64) for name in ("first_share", "sink_share", "learned_share", "q_norm_max",
                                              "q_norm_rms", "k_norm_max", "k_norm_rms")] + [
                                                  ("single", _BOOL), ("weight_error", _F64)]


STRUCTS += (StatisticsOptions, Statistics)

FUNCTIONS += """
szg_status szg_statistics_compute(szg_context *context, const szg_matrix *logits, const
    szg_statistics_options *options, szg_statistics *out);
"""

_VALUES = {"void": None, "int": _INT, "int64_t": _I64, "uint64_t": ctypes.c_uint64, "double": _F64,
           "szg_matrix": Matrix, "szg_status": _INT, "szg_question": _INT, "szg_method": _INT,
           "szg_logits_part": _INT, "szg_checkpoint_facts": CheckpointFacts}


def _type(text: str):
    """The ctypes type of a C type: pointers are addresses, but for texts."""
    if "*" in text:
        return _STR if text.replace(" ", "") == "constchar*" else _PTR
    return _VALUES[text.strip()]


def declare(library: ctypes.CDLL) -> None:
    """Gives each function its types."""
    for text in FUNCTIONS.split(";")[:-1]:
        result, name, arguments = re.fullmatch(r"(.*?)(szg_\w+)\((.*)\)", " ".join(text.split())).groups()
        function = getattr(library, name)
        function.restype = _type(result)
        function.argtypes = [_type(re.sub(r"\w+$", "", argument)) for argument in arguments.split(",")
                             if argument != "void"]
