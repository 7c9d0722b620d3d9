import { idlePod, type ApiObject, type MatrixRuleInput } from '@kube-ovn/lab'

export type Party = MatrixRuleInput['from']

/** Ports at which nothing but the probe listens. */
export const [firstPort, secondPort, otherPort] = [18_080, 18_081, 18_090]

/** A pod that lists a port by name. */
function till(name: string, node: string, containerPort: number): ApiObject {
  const idle = idlePod({ name, namespace: 'town', labels: { role: 'till', on: node } }, node) as ApiObject & {
    readonly spec: { readonly containers: readonly object[] }
  }
  const ports = [{ name: 'till', containerPort }]
  return {
    ...idle,
    spec: { ...idle.spec, containers: idle.spec.containers.map((one) => ({ ...one, ports })) },
  } as ApiObject
}

function guest(name: string, node: string, labels: Readonly<Record<string, string>>): ApiObject {
  return idlePod({ name, namespace: 'village', labels }, node)
}

const town = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'town' } }
const village = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'village', labels: { of: 'guests' } },
}
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'tills', namespace: 'town' },
  spec: {
    ipFamilyPolicy: 'PreferDualStack',
    selector: { role: 'till' },
    ports: [{ port: 80, targetPort: 'till' }],
  },
} as ApiObject
const onHost = {
  ...idlePod({ name: 'on-host', namespace: 'town', labels: { role: 'till', on: 'host' } }, 'node-2'),
} as ApiObject & { readonly spec: object }
/** Tills on both nodes and on the network of one, guests on both, and a Service. */
export const people: readonly ApiObject[] = [
  town,
  village,
  till('till-1', 'node-1', firstPort),
  till('till-2', 'node-2', secondPort),
  { ...onHost, spec: { ...onHost.spec, hostNetwork: true } } as ApiObject,
  guest('guest-1', 'node-1', { role: 'guest' }),
  guest('guest-2', 'node-2', { role: 'guest', mood: 'bad' }),
  service,
]

export const till1: Party = [{ namespace: 'town', pods: 'on=node-1' }]
export const till2: Party = [{ namespace: 'town', pods: 'on=node-2' }]
export const guests: Party = [{ namespace: 'village', pods: 'role=guest' }]
export const guest1: Party = [{ namespace: 'village', pods: 'role=guest,!mood' }]
export const guest2: Party = [{ namespace: 'village', pods: 'mood=bad' }]
