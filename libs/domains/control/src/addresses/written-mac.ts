/**
 * Gives a MAC address in the letters in which somebody wrote it, if somebody did: what a user asks for in upper case is
 * upper case in rows and records, too, as upstream has it.
 *
 * @param mac in canonical text
 * @param texts where it may be written, the most telling first
 */
export function writtenMac<M extends string | undefined>(
  mac: M,
  texts: readonly (string | undefined)[],
): M | string {
  return texts.find((text) => text !== undefined && text.toLowerCase() === mac) ?? mac
}
