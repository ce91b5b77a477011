import { lookup as resolve } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface GuardedRequest {
  url: URL;
  method: string;
  headers: Record<string, string>;
  /** JSON. */
  body?: string;
  /** Hosts, as they stand in the URL, whose address may be private. */
  privateHosts: readonly string[];
  /** Ends the request, its answer included. */
  signal: AbortSignal;
  /** Longest answer in bytes. */
  limitBytes: number;
}

/** The request was not sent, or its answer not taken. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
}

/**
 * One HTTP request that cannot be led to a private address: the name is resolved once, every address of it is
 * checked, and the connection goes to a checked one, so that a second answer of the name server changes nothing.
 * Redirects are not followed, proxies of the environment not used. The answer has to be UTF-8.
 * @throws {RefusedRequest}, or what the connection threw
 */
export async function guardedRequest(options: GuardedRequest): Promise<{ status: number; text: string }> {
  const { url, method, headers, body, privateHosts, signal, limitBytes } = options;
  const open = privateHosts.includes(hostOf(url));
  if (!open && isIP(hostOf(url)) && !isPublic(hostOf(url))) throw new RefusedRequest('a private address');
  const response = await new Promise<IncomingMessage>((answered, failed) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(url, {
      method,
      headers: {
        ...headers,
        'Accept-Encoding': 'identity',
        ...(body === undefined
          ? {}
          : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
      },
      agent: false,
      signal,
      ...(open ? {} : { lookup: publicLookup }),
    });
    request.once('response', answered).once('error', failed).end(body);
  });
  const status = response.statusCode ?? 0;
  if (status >= 300 && status < 400) {
    response.destroy();
    throw new RefusedRequest('a redirect');
  }
  return { status, text: await readText(response, limitBytes) };
}

/** Like the system's lookup, but an error where one of the addresses is not public. */
const publicLookup: LookupFunction = (hostname, options, done) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? [];
    if (error || !first) {
      done(error ?? new RefusedRequest('no address'), '', 0);
    } else if (addresses.some(({ address }) => !isPublic(address))) {
      done(new RefusedRequest('a private address'), '', 0);
    } else if (options.all) {
      done(null, addresses);
    } else {
      done(null, first.address, first.family);
    }
  });
};

/** True for unicast addresses of the public internet, also in the spellings of IPv6 that hold an IPv4 address. */
function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return (
    address.range() === 'unicast' &&
    !OF_CLOUDS.some((range) => address.kind() === range[0].kind() && address.match(range))
  );
}

/** Unicast ranges that lead into a private network: IPv4-compatible IPv6 (RFC 4291 §2.5.5.1), Azure's host. */
const OF_CLOUDS = ['::/96', '168.63.129.16/32'].map((range) => ipaddr.parseCIDR(range));

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

async function readText(response: IncomingMessage, limitBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += (chunk as Buffer).length;
    if (size > limitBytes) {
      response.destroy();
      throw new RefusedRequest('the answer is too long');
    }
    chunks.push(chunk as Buffer);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
}
