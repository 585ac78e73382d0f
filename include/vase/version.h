/* The version of the library that these headers belong to; plain C. What it promises: docs/versioning.md. */
#ifndef VASE_VERSION_H_
#define VASE_VERSION_H_

#define VASE_VERSION_MAJOR 0
#define VASE_VERSION_MINOR 1
#define VASE_VERSION_PATCH 0

/* One number that grows with the version: 1.2.3 is 10203. */
#define VASE_VERSION_NUMBER (VASE_VERSION_MAJOR * 10000 + VASE_VERSION_MINOR * 100 + VASE_VERSION_PATCH)

#endif /* VASE_VERSION_H_ */
