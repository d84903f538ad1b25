import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

/**
 * Loads a module at once, and as the ES module that it is: `require` by name would find the
 * CommonJS twin of an OpenTelemetry package, with an API of its own that nobody registers with.
 *
 * @param specifier What an `import` in this package would say.
 */
export function load<Module>(specifier: string): Module {
  return require(fileURLToPath(import.meta.resolve(specifier))) as Module;
}

/** @param name A module of this package, without its extension. */
export function loadOwn<Module>(name: string): Module {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
  return load(`./${name}${extension}`);
}
