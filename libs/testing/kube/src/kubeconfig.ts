import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Writes down how `user`, whose certificate is in `directory`, reaches the server. Complete in one file. */
export async function kubeconfigOf(directory: string, server: string, user: string): Promise<string> {
  const data = async (name: string): Promise<string> =>
    (await readFile(join(directory, name))).toString('base64')
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': await data('ca.crt') } }],
      users: [
        {
          name: user,
          user: {
            'client-certificate-data': await data(`${user}.crt`),
            'client-key-data': await data(`${user}.key`),
          },
        },
      ],
      contexts: [{ name: 'test', context: { cluster: 'test', user } }],
      'current-context': 'test',
    },
    undefined,
    2,
  )
}
