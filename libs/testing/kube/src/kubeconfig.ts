import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Writes down how `user`, whose certificate is in `directory`, reaches the server. Complete in one file. */
export async function certificateKubeconfig(
  directory: string,
  server: string,
  user: string,
): Promise<string> {
  const [certificate, key] = await Promise.all(
    ['crt', 'key'].map((kind) => encoded(directory, `${user}.${kind}`)),
  )
  return kubeconfig(directory, server, { 'client-certificate-data': certificate, 'client-key-data': key })
}

/** Writes down how the bearer of a token reaches the server. */
export function tokenKubeconfig(directory: string, server: string, token: string): Promise<string> {
  return kubeconfig(directory, server, { token })
}

async function kubeconfig(directory: string, server: string, user: object): Promise<string> {
  const authority = await encoded(directory, 'ca.crt')
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': authority } }],
      users: [{ name: 'test', user }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      'current-context': 'test',
    },
    undefined,
    2,
  )
}

async function encoded(directory: string, name: string): Promise<string> {
  return (await readFile(join(directory, name))).toString('base64')
}
