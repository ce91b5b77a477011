/** Builds the published command into `dist` or the folder given; what is private to the project is built in. */
import { chmodSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsdown';
import { writePublishedPackage } from '../../sdk/build/published-package.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));
const outDir = resolve(process.argv[2] ?? join(folder, 'dist'));

await build({
  cwd: folder,
  config: false,
  entry: 'src/main.ts',
  outDir,
  clean: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  outExtensions: () => ({ js: '.js' }),
  banner: (chunk) => (chunk.fileName === 'main.js' ? '#!/usr/bin/env node' : ''),
  dts: false,
  logLevel: 'warn',
});
chmodSync(join(outDir, 'main.js'), 0o755);
writePublishedPackage(folder, outDir, { bin: { plangate: 'main.js' } });
