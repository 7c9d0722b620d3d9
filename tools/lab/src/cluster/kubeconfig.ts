import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'

/** Renders a kubeconfig that holds everything in itself, for the identity `name` of `certificates`. */
export function renderKubeconfig(certificates: string, name: string, server: string): string {
  const read = (file: string): string => readFileSync(join(certificates, file)).toString('base64')
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'lab', cluster: { server, 'certificate-authority-data': read('ca.crt') } }],
    users: [
      {
        name,
        user: {
          'client-certificate-data': read(`${name}.crt`),
          'client-key-data': read(`${name}.key`),
        },
      },
    ],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: name } }],
    'current-context': 'lab',
  })
}
