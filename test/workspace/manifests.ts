import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type ExportTarget = string | Readonly<Record<string, string>>;

/** The part of a package.json that the workspace has rules for. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly license?: string;
  readonly type?: string;
  readonly engines?: { readonly node?: string };
  readonly exports: Readonly<Record<string, ExportTarget>>;
  readonly publishConfig?: {
    readonly access?: string;
    readonly provenance?: boolean;
    readonly exports?: Readonly<Record<string, ExportTarget>>;
  };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** A package of the workspace and where it lies. */
export interface WorkspacePackage {
  readonly dir: string;
  readonly manifest: Manifest;
}

export const ROOT: string = join(import.meta.dirname, '../..');

export function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

/** All packages that are published, in the order of their folders. */
export function publishedPackages(): WorkspacePackage[] {
  const packages = join(ROOT, 'packages');
  return readdirSync(packages, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(packages, entry.name))
    .map((dir) => ({ dir, manifest: readJson<Manifest>(join(dir, 'package.json')) }))
    .filter(({ manifest }) => manifest.private !== true);
}
