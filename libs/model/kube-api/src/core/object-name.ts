/** Names of objects (RFC 1123). */
const nameForm = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/

/** Whether an object may be called so. */
export function isObjectName(text: string): boolean {
  return nameForm.test(text)
}
