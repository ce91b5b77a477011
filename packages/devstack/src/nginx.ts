import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataFolder } from './data-folder.ts';
import { freePort } from './free-port.ts';
import { findNginx } from './install/nginx.ts';
import type { Report } from './install/run.ts';
import { type Server, startServer } from './server.ts';

export interface NginxOptions {
  /** Where requests go, such as `http://127.0.0.1:8080`. */
  upstream: string;
  /** Told while it is installed. */
  report?: Report;
}

/** A reverse proxy on loopback with nginx's own defaults: HTTP/1.0 to what is behind it, answers buffered. */
export interface Nginx extends Server {
  readonly url: string;
}

/**
 * Starts nginx in the foreground, installing it first where it is missing, and waits until it answers.
 * @throws {Error} with its last log lines where it does not start
 */
export async function startNginx({ upstream, report }: NginxOptions): Promise<Nginx> {
  const command = await findNginx(report);
  const port = await freePort();
  const folder = dataFolder(undefined, 'nginx');
  const file = join(folder.path, 'nginx.conf');
  writeFileSync(file, configuration(folder.path, port, upstream));
  const url = `http://127.0.0.1:${port}`;
  const server = await startServer({
    name: 'nginx',
    command,
    args: ['-e', 'stderr', '-p', folder.path, '-c', file],
    logFile: join(folder.path, 'nginx.log'),
    limitMs: 20_000,
    isReady: async () => (await fetch(url, { method: 'HEAD' })).status > 0,
    release: folder.release,
  });
  return Object.assign(server, { url });
}

/** Only what it takes to run beside other servers: folders of its own, one process, no daemon. */
function configuration(folder: string, port: number, upstream: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
${temporary.map((name) => `  ${name}_temp_path ${folder}/${name};`).join('\n')}
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass ${upstream}; }
  }
}
`;
}
