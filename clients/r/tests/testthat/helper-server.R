# A connection as somebody of the server that the tests run against.
as_user <- function(name, ...) {
  tokens <- Sys.getenv("PENSTOCK_TEST_TOKENS")
  skip_if(tokens == "", "there is no server")
  tokens <- jsonlite::fromJSON(tokens)
  penstock(Sys.getenv("PENSTOCK_URL"), tokens[[name]], pauses = numeric(), ...)
}
