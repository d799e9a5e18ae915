#' Client for a Penstock server
#'
#' - `connection.R`: [penstock()], a connection as one user
#' - `release.R`: [penstock_release()] and [penstock_stream()], values with intervals
#' - `catalogue.R`: datasets, queries, budgets, history and exposure, and what admins list
#' - `request.R`: [penstock_call()], and the conditions that refusals are
#' - `log.R`, `note.R`, `tree.R`: verify receipts, signed checkpoints and Merkle proofs
#'
#' @name penstock-package
#' @aliases penstock-package
#' @docType package
#' @importFrom tibble tibble as_tibble tbl_sum
#' @keywords internal
NULL
