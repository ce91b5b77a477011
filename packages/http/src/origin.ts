/**
 * The origin of a configured address as browsers send it in `Origin`. `URL.origin` is `null` for schemes of apps, such
 * as `app://desk`; taken as it is, it would stand for every sandboxed page.
 * @throws {TypeError} where it is no address
 */
export function originOf(address: string): string {
  const { origin, protocol, host } = new URL(address);
  return origin === 'null' ? `${protocol}//${host}` : origin;
}
