const MEMBER = /[ \t]*(?:((?:W\/)?"[^"]*"|[^", \t]+)[ \t]*)?(?:,|$)/y;

/**
 * The members of an If-Match or If-None-Match header (RFC 9110 §8.8.3, §13.1), quotes included; a comma inside
 * quotes is part of its tag. Bare words are members too, because existing clients send the number alone.
 * @returns `[]` where the header cannot be read
 */
export function entityTags(header: string): string[] {
  const tags: string[] = [];
  MEMBER.lastIndex = 0;
  while (MEMBER.lastIndex < header.length) {
    const match = MEMBER.exec(header);
    if (!match) return [];
    if (match[1] !== undefined) tags.push(match[1]);
  }
  return tags;
}
