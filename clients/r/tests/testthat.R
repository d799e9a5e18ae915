library(testthat)
library(penstock)

test_check("penstock")
