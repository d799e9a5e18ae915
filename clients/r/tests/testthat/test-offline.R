test_that("the token is never shown", {
  con <- penstock("https://penstock.example.org/below/", "pst_secret")
  shown <- c(
    capture.output(print(con)), capture.output(str(con)), capture.output(str(list(con))),
    format(con), capture.output(list(con))
  )
  expect_false(any(grepl("pst_secret", shown)))
  expect_equal(shown[1], "<penstock_connection> https://penstock.example.org/below")
})

test_that("addresses and tokens that would leak are refused", {
  for (url in c("http://example.org", "ftp://127.0.0.1", "https://a:b@example.org", "x",
    "https://example.org?a=1", "https://example.org#a")) {
    expect_error(penstock(url, "pst"), class = "penstock_invalid_argument")
  }
  for (token in c("", "a b", "a\n")) {
    expect_error(penstock("https://example.org", token), class = "penstock_invalid_argument")
  }
  expect_equal(penstock("http://example.org", "pst", insecure = TRUE)$url, "http://example.org")
})

test_that("bodies have every digit, and nothing that JSON has not", {
  for (value in c(0.1 + 0.2, 1 / 3, 1e-300, 2028, 5e-324, -0.5)) {
    expect_identical(as.numeric(penstock:::json_text(value)), value)
  }
  expect_equal(
    penstock:::json_text(list(a = list("x\"y"), b = NULL, c = 1:2, d = TRUE, e = list())),
    '{"a":["x\\"y"],"b":null,"c":[1,2],"d":true,"e":[]}'
  )
  expect_error(penstock:::json_text(list(a = NaN)), class = "penstock_invalid_argument")
})

test_that("names are one part of a path", {
  expect_equal(penstock:::encoded_path(c("users", "a/b \u00e9")), "/users/a%2Fb%20%C3%A9")
  expect_error(penstock:::encoded_path(c("users", "..")), class = "penstock_invalid_argument")
})

test_that("keys become columns", {
  columns <- penstock:::key_columns
  expect_equal(columns(list("a", "b")), list(key = c("a", "b")))
  expect_equal(columns(list(1L, 2L)), list(key = c(1, 2)))
  expect_equal(columns(list(1L, "18446744073709551615")), list(key = c("1", "18446744073709551615")))
  two <- list(list("a", "x"), list("b", "y"))
  expect_equal(columns(two), list(key_1 = c("a", "b"), key_2 = c("x", "y")))
  expect_equal(columns(list(list("a", "x"), "b")), list(key = c("a \u00b7 x", "b")))
  expect_equal(columns(list()), list(key = character()))
})

test_that("refusals of gateways are known, and others are no server's", {
  refuse <- penstock:::refuse
  expect_error(refuse(502, NULL), class = "penstock_unavailable")
  expect_error(refuse(404, NULL), class = "penstock_protocol_error")
  problem <- list(code = "PROPOSAL", title = "A title", detail = "What.", needed = 7)
  cnd <- expect_error(refuse(409, problem), class = "penstock_conflict")
  expect_equal(cnd$data, list(needed = 7))
})

test_that("proofs of trees of up to nine leaves are accepted, and no other proofs", {
  leaves <- lapply(1:9, function(number) penstock:::leaf_hash(as.raw(number)))
  root <- function(hashes) {
    if (length(hashes) == 1) return(hashes[[1]])
    left <- 2^(ceiling(log2(length(hashes))) - 1)
    penstock:::node_hash(root(hashes[1:left]), root(hashes[-(1:left)]))
  }
  path <- function(index, hashes) {
    if (length(hashes) == 1) return(list())
    left <- 2^(ceiling(log2(length(hashes))) - 1)
    if (index < left) return(c(path(index, hashes[1:left]), list(root(hashes[-(1:left)]))))
    c(path(index - left, hashes[-(1:left)]), list(root(hashes[1:left])))
  }
  for (size in 1:9) {
    tree <- leaves[1:size]
    for (index in seq_len(size) - 1) {
      hashes <- path(index, tree)
      included <- function(...) penstock:::is_included(leaves[[index + 1]], ...)
      expect_true(included(index, size, hashes, root(tree)))
      expect_false(included(index, size, c(hashes, hashes[1]), root(tree)) && size > 1)
      expect_false(included(index + 1, size, hashes, root(tree)))
      expect_false(included(index, size, hashes, leaves[[9]]) && size != 9)
    }
  }
})
