type Titled = { title: string; url: string };

const PACKAGE = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\/[^/]+$/;

/** What a reader calls a document: the package that it belongs to, else its title. */
export function nameOf({ title, url }: Titled): string {
  return PACKAGE.exec(url)?.[1] ?? title;
}

/** The exact names of a document in lower case: its package and its title. */
export function namesOf(document: Titled): string[] {
  return [...new Set([nameOf(document), document.title].map((name) => name.toLowerCase()))];
}
