import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeServiceCertificate } from '../cluster/certificates.ts'
import { productImage } from '../cluster/images.ts'
import { deleteAll, applyAll } from '../kubernetes/manifests.ts'
import { untilPodsReady } from '../kubernetes/workloads.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ApiObject } from '../kubernetes/client.ts'

const name = 'answers-the-api'
const namespace = name
const service = { name, namespace }
const port = 8443

/** What the webhook says of every ConfigMap of its namespace. */
export const refusal = 'refused by a pod'

/** A group of the API that the pod serves. */
const group = 'pod.lab.example.com'
const version = 'v1'
export const podGroupPath = `/apis/${group}/${version}`

/** Of a ConfigMap that the webhook refuses. */
export const refusedPath = `/api/v1/namespaces/${namespace}/configmaps`

/** Refuses what it reviews, and serves a group of the API without resources. */
const program = `
const { readFileSync } = require('node:fs')
const { createServer } = require('node:https')
const tls = { cert: readFileSync('/tls/tls.crt'), key: readFileSync('/tls/tls.key') }
createServer(tls, (request, response) => {
  let body = ''
  request.on('data', (part) => (body += part))
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    const answer = request.method === 'POST'
      ? { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: {
          uid: JSON.parse(body).request.uid, allowed: false, status: { message: ${JSON.stringify(refusal)} } } }
      : { apiVersion: 'v1', kind: 'APIResourceList', groupVersion: '${group}/${version}', resources: [] }
    response.end(JSON.stringify(answer))
  })
}).listen(${port})`

/** Runs a pod whose Service the API server asks: as a webhook, and for a group of its API. It goes when this is disposed of. */
export async function runWebhookPod(cluster: Cluster): Promise<AsyncDisposable> {
  const pki = join(cluster.directory, 'pki')
  await writeServiceCertificate(pki, service)
  const read = (file: string): string => readFileSync(join(pki, file)).toString('base64')
  const objects = [
    ...servingObjects({ 'tls.crt': read(`${name}.crt`), 'tls.key': read(`${name}.key`) }),
    ...askingObjects(read('ca.crt')),
  ]
  await applyAll(cluster.api, objects)
  await untilPodsReady(cluster.api, namespace, `app=${name}`, 1)
  return {
    [Symbol.asyncDispose]: () => deleteAll(cluster.api, objects),
  }
}

function servingObjects(data: Readonly<Record<string, string>>): readonly ApiObject[] {
  const labels = { app: name }
  const ports = [{ port: 443, targetPort: port }]
  const container = {
    name,
    image: productImage('controller'),
    command: ['node', '-e', program],
    readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
    volumeMounts: [{ name: 'tls', mountPath: '/tls' }],
  }
  const volumes = [{ name: 'tls', secret: { secretName: name } }]
  return [
    object('v1', 'Namespace', { name: namespace }),
    object('v1', 'Secret', service, { type: 'kubernetes.io/tls', data }),
    object('v1', 'Service', service, { spec: { selector: labels, ports } }),
    object(
      'v1',
      'Pod',
      { ...service, labels },
      { spec: { terminationGracePeriodSeconds: 0, containers: [container], volumes } },
    ),
  ]
}

function askingObjects(caBundle: string): readonly ApiObject[] {
  return [
    object(
      'admissionregistration.k8s.io/v1',
      'ValidatingWebhookConfiguration',
      { name },
      {
        webhooks: [
          {
            name: `${name}.lab.example.com`,
            clientConfig: { service, caBundle },
            rules: [
              { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
            ],
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
            // Nobody else's is concerned, the certificates that each namespace gets included.
            objectSelector: { matchLabels: { app: name } },
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            timeoutSeconds: 3,
          },
        ],
      },
    ),
    object(
      'apiregistration.k8s.io/v1',
      'APIService',
      { name: `${version}.${group}` },
      {
        spec: { service, caBundle, group, version, groupPriorityMinimum: 100, versionPriority: 100 },
      },
    ),
  ]
}

function object(
  apiVersion: string,
  kind: string,
  metadata: ApiObject['metadata'],
  others: object = {},
): ApiObject {
  return { apiVersion, kind, metadata, ...others }
}
