/* Linking is the test. */
int main(void) {
    return 0;
}
