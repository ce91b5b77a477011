import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a workspace's manifest has for the workspace only. */
const OWN = ['private', 'scripts', 'devDependencies', 'files'];

/**
 * Makes the folder of built files a package: its manifest, readme and licence. `npm pack` and `npm publish` take that
 * folder; the workspace itself runs from its sources and is never published.
 * @param folder the workspace
 * @param outDir its built files
 * @param entries `exports` or `bin` of the built files
 */
export function writePublishedPackage(
  folder: string,
  outDir: string,
  entries: Record<string, unknown>,
): void {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
  const kept = Object.entries(manifest).filter(([name]) => !OWN.includes(name));
  const published = { ...Object.fromEntries(kept), ...entries };
  writeFileSync(join(outDir, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  copyFileSync(join(folder, 'README.md'), join(outDir, 'README.md'));
  copyFileSync(join(folder, '../../LICENSE'), join(outDir, 'LICENSE'));
}
