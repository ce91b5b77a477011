/** Builds the published package into `dist`: one module for Node and browsers, and its types. */
import { fileURLToPath } from 'node:url';
import { build } from 'tsdown';
import { writePublishedPackage } from './published-package.ts';
import { wireTypes } from './wire-types.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));
const types = await wireTypes();

await build({
  cwd: folder,
  config: false,
  entry: 'src/index.ts',
  outDir: 'dist',
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
writePublishedPackage(folder, {
  types: './index.d.ts',
  exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
});
