import {
  applyAll,
  deleteAll,
  idlePod,
  nbctl,
  ovnCentral,
  untilPod,
  untilRowChange,
  type ApiObject,
  type Cluster,
} from '@kube-ovn/lab'
import { expect } from 'vitest'

/** Somebody who is not of the product gives a port of his own an address that a pod has, as long as the result lives. */
export async function addStrangersPort(
  cluster: Cluster,
  subnet: string,
  address: string,
): Promise<AsyncDisposable> {
  const central = await ovnCentral(cluster)
  const name = 'strangers'
  // The command for addresses refuses one that is taken.
  const addresses = `addresses="0a:00:00:00:00:99 ${address}"`
  await nbctl(central, 'lsp-add', subnet, name, '--', 'set', 'Logical_Switch_Port', name, addresses)
  return {
    [Symbol.asyncDispose]: async () =>
      void (await nbctl(await ovnCentral(cluster), '--if-exists', 'lsp-del', name)),
  }
}

/** More than the controller deletes without being asked. */
const unownedRows = 60

/** Puts rows into the Northbound as of objects that are lost, all at once, until an operator who has been told of them lets them go. */
export async function addUnownedRows(cluster: Cluster): Promise<AsyncDisposable> {
  const rows = Array.from({ length: unownedRows }, (_, index) => {
    const name = `lost-${index}`
    const ids = { vendor: 'kube-ovn', owner: `ip-pool/${name}`, id: `as-pool/${name}`, ippool: name }
    const columns = Object.entries(ids).map(([key, value]) => `external_ids:${key}="${value}"`)
    return ['create', 'Address_Set', `name=lost_${index}`, ...columns]
  })
  const [first = [], ...others] = rows
  await nbctl(await ovnCentral(cluster), ...first, ...others.flatMap((row) => ['--', ...row]))
  return {
    [Symbol.asyncDispose]: async () => {
      const sets = Array.from({ length: unownedRows }, (_, index) => `lost_${index}`)
      await nbctl(await ovnCentral(cluster), '--if-exists', 'destroy', 'Address_Set', ...sets)
    },
  }
}

const editedName = 'edited'
const editedSubnet = {
  apiVersion: 'kubeovn.io/v1',
  kind: 'Subnet',
  metadata: { name: editedName },
  spec: { cidrBlock: '10.48.0.0/24' },
} as ApiObject
const editedAcl = { direction: 'to-lport', priority: 1100, match: 'tcp', action: 'allow' }

/** Edits a Subnet, again as soon as the Northbound has what was edited, as long as the result lives. */
export async function editSteadily(cluster: Cluster): Promise<AsyncDisposable> {
  const central = await ovnCentral(cluster)
  await applyAll(cluster.api, [editedSubnet])
  const end = new AbortController()
  const edits = (async () => {
    for (let count = 0; !end.signal.aborted; count++) {
      const acls = count % 2 === 0 ? [editedAcl] : []
      const edit = async (): Promise<boolean> => {
        await cluster.api.mergePatch(`/apis/kubeovn.io/v1/subnets/${editedName}`, { spec: { acls } })
        return false
      }
      await untilRowChange(
        central,
        'Logical_Switch',
        ['name', 'acls'],
        edit,
        ({ columns }) => columns['name'] === editedName,
        60_000,
      )
    }
  })()
  // It is told of in the end.
  edits.catch(() => undefined)
  return {
    [Symbol.asyncDispose]: async () => {
      end.abort()
      await edits
      await deleteAll(cluster.api, [editedSubnet])
    },
  }
}

const waitingName = 'waiting'
const waitingNamespace: ApiObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: waitingName },
}

/** Starts pods on a node one after the other, each when the one before has its address; they go with the result. */
export async function startPods(cluster: Cluster, node: string, count: number): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack()
  stack.defer(() => deleteAll(cluster.api, [waitingNamespace]))
  await applyAll(cluster.api, [waitingNamespace])
  for (let index = 0; index < count; index++) {
    const name = `pod-${index}`
    const pod = idlePod({ name, namespace: waitingName }, node)
    stack.defer(() => cluster.api.delete(pod, 0))
    await cluster.api.apply(pod)
    const found = await untilPod(cluster.api, waitingName, name, 'has an address', (one) =>
      Object.keys(one?.metadata.annotations ?? {}).includes('ovn.kubernetes.io/ip_address'),
    )
    expect(found).not.toBe(true)
  }
  return stack.move()
}
