/** Builds the published package into `dist` or the folder given: one module for Node and browsers, and its types. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsdown';
import { writePublishedPackage } from './published-package.ts';
import { wireTypes } from './wire-types.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));
const outDir = resolve(process.argv[2] ?? `${folder}/dist`);
const types = await wireTypes();

await build({
  cwd: folder,
  config: false,
  entry: 'src/index.ts',
  outDir,
  clean: true,
  format: 'esm',
  platform: 'neutral',
  target: ['node20', 'es2022'],
  outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
  dts: { generator: 'oxc' },
  logLevel: 'warn',
  plugins: [
    {
      name: 'plain-wire-types',
      load: (id) => (/[\\/]src[\\/]wire\.ts$/.test(id) ? types : null),
    },
  ],
});
writePublishedPackage(folder, outDir, {
  types: './index.d.ts',
  exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
});
