% Octave: products, a solve, eigenvectors, singular values.
rand("seed", 1); randn("seed", 1);
n = 900;
arguments = argv();
if (numel(arguments) > 0 && ! isnan(str2double(arguments{end}))) n = str2double(arguments{end}); end
a = randn(n); b = randn(n);
x = a \ b;
printf("error solve %g\n", norm(a * x - b, "fro") / (norm(a, "fro") * norm(x, "fro")));
s = a * a';
[v, d] = eig((s + s') / 2);
printf("error eig %g\n", norm(s * v - v * d, "fro") / norm(s, "fro"));
[u, w, z] = svd(a(1:400, 1:400));
printf("error svd %g\n", norm(u * w * z' - a(1:400, 1:400), "fro") / norm(a(1:400, 1:400), "fro"));
printf("value trace %.15g\n", trace(s));
