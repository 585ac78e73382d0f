/* The C interface from C: every function, what it gives, and how it fails. Takes the path of a tiny model. */
#include "check.h"

int capi_failures = 0;

int main(int argc, char** argv) {
  if (argc != 2) {
    puts("usage: capi_test MODEL");
    return 2;
  }
  test_without_model();
  test_with_model(argv[1]);
  printf("%d failures\n", capi_failures);
  return capi_failures != 0;
}
