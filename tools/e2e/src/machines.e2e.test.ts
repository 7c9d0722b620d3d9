import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  addressesOfPod,
  applyAll,
  deleteAll,
  eventually,
  findColumn,
  kubectl,
  ovnCentral,
  parseManifests,
  placeOf,
  startPing,
  untilPod,
  untilPodsReady,
  type ApiObject,
  type Cluster,
  type PodObject,
} from '@kube-ovn/lab'
import { foreignCrds } from '@kube-ovn/testing-kube'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { koOf } from './kubectl-ko/run-program.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('may define KubeVirt’s kinds without KubeVirt')

let cluster: Cluster
let nodes: readonly string[]

/** The kinds of KubeVirt, which the controller looks for when it starts. */
async function defineKinds({ api }: Cluster): Promise<void> {
  await applyAll(api, parseManifests(await readFile(join(foreignCrds, 'kubevirt.yaml'), 'utf8')))
}

const lab = useSuiteLab({ id: 'machines', nodes: 2 }, { beforeChart: defineKinds })

beforeAll(() => {
  ;({ cluster } = lab)
  nodes = cluster.nodes.map(({ name }) => name)
})

afterAll(async () => {
  await cluster.api.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
})

const kubevirt = 'kubevirt.io/v1'
const namespace = 'farm'
const mergePath = `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstancemigrations`

function busybox(
  name: string,
  node: string | undefined,
  more: Partial<ApiObject['metadata']> = {},
): ApiObject {
  const page = `mkdir -p /www && echo ${name} > /www/index.html && exec busybox httpd -f -p 8080 -h /www`
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name }, ...more },
    spec: {
      terminationGracePeriodSeconds: 0,
      ...(node === undefined ? {} : { nodeSelector: { 'kubernetes.io/hostname': node } }),
      containers: [{ name: 'main', image: 'docker.io/library/busybox:stable', command: ['sh', '-c', page] }],
    },
  } as ApiObject
}

/** What KubeVirt makes to run the machine. */
async function launch(name: string, node: string | undefined, move?: string): Promise<PodObject> {
  const instance = await cluster.api.call<{ readonly metadata: { readonly uid: string } }>(
    'GET',
    `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/vm`,
  )
  const owner = {
    apiVersion: kubevirt,
    kind: 'VirtualMachineInstance',
    name: 'vm',
    uid: instance.metadata.uid,
  }
  const launcher = busybox(name, node, {
    ownerReferences: [owner],
    ...(move === undefined ? {} : { annotations: { 'kubevirt.io/migrationJobName': move } }),
  } as Partial<ApiObject['metadata']>)
  await cluster.api.apply(launcher)
  const [pod] = await untilPodsReady(cluster.api, namespace, `app=${name}`, 1)
  return pod as PodObject
}

async function end(name: string): Promise<void> {
  await deleteAll(cluster.api, [{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace } }])
  await untilPod(cluster.api, namespace, name, 'is gone', (pod) => pod === undefined)
}

async function setPhase(phase: string): Promise<void> {
  await cluster.api.mergePatch(`${mergePath}/move`, { status: { phase } })
}

/** The pod that answers at the addresses of the machine. */
async function whoAnswers(addresses: readonly string[]): Promise<readonly string[]> {
  const pages = addresses.map(async (address) => {
    const url = `http://${address.includes(':') ? `[${address}]` : address}:8080/`
    const page = await kubectl(
      cluster,
      ...['exec', '-n', namespace, 'client', '--', 'busybox', 'wget', '-q', '-T', '3', '-O', '-', url],
    )
    return page.trim()
  })
  return Promise.all(pages)
}

async function untilAnswers(name: string, addresses: readonly string[]): Promise<void> {
  await eventually(`${name} answers at ${addresses.join()}`, async () => {
    const answers = await whoAnswers(addresses).catch(() => [])
    return answers.length > 0 && answers.every((answer) => answer === name) ? true : undefined
  })
}

/** @param want as ovn-nbctl prints it, e.g. `activation-strategy=rarp requested-chassis=a,b` */
async function untilOptions(want: string): Promise<void> {
  const central = await ovnCentral(cluster)
  await eventually(`the options of the port are "${want}"`, async () => {
    const options = await findColumn(central, 'Logical_Switch_Port', 'options', `name=vm.${namespace}`)
    return options.join() === want ? true : undefined
  })
}

describe('a machine', () => {
  it(
    'keeps its addresses over stop, start and a move, and answers where it is',
    { timeout: 900_000 },
    async () => {
      const [first, second] = nodes
      await applyAll(cluster.api, [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
        {
          apiVersion: kubevirt,
          kind: 'VirtualMachine',
          metadata: { name: 'vm', namespace },
          spec: { template: {} },
        },
        { apiVersion: kubevirt, kind: 'VirtualMachineInstance', metadata: { name: 'vm', namespace } },
        busybox('client', first),
      ] as ApiObject[])
      const [client] = await untilPodsReady(cluster.api, namespace, 'app=client', 1)
      if (client === undefined) return expect.unreachable()

      const addresses = addressesOfPod(await launch('launcher-a', first))
      expect(addresses).toHaveLength(2)
      await untilAnswers('launcher-a', addresses)
      await end('launcher-a')

      expect(addressesOfPod(await launch('launcher-b', second))).toEqual(addresses)
      await untilAnswers('launcher-b', addresses)

      await cluster.api.apply({
        apiVersion: kubevirt,
        kind: 'VirtualMachineInstanceMigration',
        metadata: { name: 'move', namespace },
        spec: { vmiName: 'vm' },
      } as ApiObject)
      await setPhase('Scheduling')
      expect(addressesOfPod(await launch('launcher-c', first, 'move'))).toEqual(addresses)
      await untilOptions(`activation-strategy=rarp requested-chassis=${second ?? ''},${first ?? ''}`)
      await untilAnswers('launcher-b', addresses)

      await setPhase('Succeeded')
      await untilOptions(`requested-chassis=${first ?? ''}`)
      await untilAnswers('launcher-c', addresses)
      await end('launcher-b')
      await untilOptions('')
      await untilAnswers('launcher-c', addresses)
      // Its port has the name of the machine, not of the pod.
      const target = addresses.find((address) => address.includes('.')) ?? ''
      const ping = startPing(placeOf(cluster, client), target)
      const seen = await koOf(cluster.kubeconfig)('tcpdump', `${namespace}/launcher-c`, '-c', '1', 'icmp')
      await ping.stop()
      expect(seen).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(target) })
      // Nothing is collected that a machine needs.
      const records = await cluster.api.list<ApiObject>('/apis/kubeovn.io/v1/ips')
      expect(records.map(({ metadata }) => metadata.name)).toContain(`vm.${namespace}`)
    },
  )
})
