/* One task of a row of Table 1. */
#include "table1.h"

const char *szgi_table1_task(int task) {
    return task == 0 ? "Task 1, trigger distance" : "Task 2, trigger count";
}

outcome szgi_table1_outcome(rows of, int64_t index, int task) {
    static const char *const names[TABLE1_TASKS][6] = {
        {"task1", "spread1", "seeds1", "paper1", "length1", "ceiling1"},
        {"task2", "spread2", "seeds2", "paper2", "length2", "ceiling2"}};
    return (outcome){
        szgi_rows_real(of, index, names[task][0]), szgi_rows_real(of, index, names[task][1]),
        szgi_rows_real(of, index, names[task][2]), szgi_rows_real(of, index, names[task][3]),
        szgi_rows_real(of, index, names[task][4]), szgi_rows_real(of, index, names[task][5])};
}
