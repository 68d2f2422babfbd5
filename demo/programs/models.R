# R: products, least squares, principal components.
set.seed(1)
n <- 900
a <- matrix(rnorm(n * n), n)
b <- matrix(rnorm(n * n), n)
cat("error solve", norm(a %*% solve(a, b) - b, "F") / (norm(a, "F") * norm(solve(a, b), "F")), "\n")
s <- crossprod(a)
r <- chol(s)
cat("error chol", norm(crossprod(r) - s, "F") / norm(s, "F"), "\n")
e <- eigen(s, symmetric = TRUE)
cat("error eigen", norm(s %*% e$vectors - e$vectors %*% diag(e$values), "F") / norm(s, "F"), "\n")
x <- matrix(rnorm(4000 * 200), 4000)
y <- x %*% rep(1, 200) + rnorm(4000)
cat("value coefficient", sum(solve(crossprod(x), crossprod(x, y))), "\n")
