import { fileURLToPath } from 'node:url';

/** The project's folder, which holds `config/` and the documents that relative settings name. */
export const PROJECT_FOLDER = fileURLToPath(new URL('../../..', import.meta.url));

/** Path of a file in `config/`. */
export function configFile(name: string): string {
  return `${PROJECT_FOLDER}config/${name}`;
}
