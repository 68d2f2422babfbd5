% Octave: the density matrix of a disordered chain by purification (SP2), and its energy.
rand("seed", 1); randn("seed", 1);
n = 600;
arguments = argv();
if (numel(arguments) > 0 && ! isnan(str2double(arguments{end}))) n = str2double(arguments{end}); end
d = abs((1:n)' - (1:n));
h = exp(-d / 20) .* (1 + 0.1 * randn(n)); h = (h + h') / 2;
bound = norm(h, 1);
p = (bound * eye(n) - h) / (2 * bound);
wanted = n / 2;
for step = 1:40
  q = p * p;
  if (abs(trace(q) - wanted) < abs(2 * trace(p) - trace(q) - wanted)) p = q; else p = 2 * p - q; end
end
printf("value trace %.15g\n", trace(p));
printf("value energy %.15g\n", sum(sum(p .* h)));
printf("error symmetry %g\n", norm(p - p', "fro") / norm(p, "fro"));
