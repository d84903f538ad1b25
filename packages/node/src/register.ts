import type { arm } from './arm.ts';

/*
 * Imports nothing before it knows where it is. Node 22 runs what --require names in the thread of the
 * loader hooks as well, where no import of an ES module can be resolved: the thread would end, and
 * with it the application.
 */
const builtin = process.getBuiltinModule;
if (builtin === undefined) {
  // Older than anything that we support, which arm() says.
  void import('./arm.ts').then((module) => module.arm());
} else if (!builtin('node:worker_threads').isInternalThread) {
  const require = builtin('node:module').createRequire(import.meta.url);
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
  (require(`./arm${extension}`) as { readonly arm: typeof arm }).arm();
}
