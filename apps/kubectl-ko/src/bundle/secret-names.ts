/** Stands where a secret was. */
export const redacted = '(left out)'

/**
 * How names end under which programs and people keep secrets: `BGP_PASSWORD`, `authPassword`, `client-key-data`, `.dockerconfigjson`.
 * What merely has such a word in it, like `secretName` or `tokens of the bucket`, is none.
 */
export const secretWords = [
  ...['pass(?:word|wd|phrase|code)s?', '(?<![a-z])pass', '(?<=[_-])pwd', 'secrets?', 'tokens?', 'psks?'],
  '(?:private|pre.?shared|shared|secret|access|api|auth(?:entication)?|client|server|signing|encryption|master|session|ssh|tls|ca|fastopen)[-_. ]?key',
  ...['key[-_]?data', 'key.?string', 'credentials?', 'authorization', '(?<![a-z])auth'],
  ...['docker(?:configjson|cfg)', 'htpasswd'],
].join('|')

const endsAsSecret = new RegExp(`(?:${secretWords})$`, 'i')

/** Whether what is under this name gives access to something. */
export function isSecretName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= 300 && endsAsSecret.test(name)
}
