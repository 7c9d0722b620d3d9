import { podAnnotations } from '@kube-ovn/annotations'
import { nodes, pods, type Pod } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { events, type CoreEvent } from '@kube-ovn/kube-api/core'
import { node, pod, subnet } from '@kube-ovn/testing-builders'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { vi } from 'vitest'
import { NodeContainer } from './node-container.ts'

const northbound = `
ovn-nbctl lr-add ovn-cluster -- set Logical_Router ovn-cluster options:always_learn_from_arp_request=false
ovn-nbctl ls-add join -- ls-add ovn-default
ovn-nbctl lrp-add ovn-cluster ovn-cluster-join 00:00:00:00:64:01 100.64.0.1/16 fd00:100:64::1/112
ovn-nbctl lrp-add ovn-cluster ovn-cluster-ovn-default 00:00:00:00:16:01 10.16.0.1/16 fd00:10:16::1/112
ovn-nbctl lsp-add join join-ovn-cluster -- lsp-set-type join-ovn-cluster router -- \\
  lsp-set-addresses join-ovn-cluster router -- lsp-set-options join-ovn-cluster router-port=ovn-cluster-join
ovn-nbctl lsp-add ovn-default ovn-default-ovn-cluster -- lsp-set-type ovn-default-ovn-cluster router -- \\
  lsp-set-addresses ovn-default-ovn-cluster router -- \\
  lsp-set-options ovn-default-ovn-cluster router-port=ovn-cluster-ovn-default
ovn-nbctl lsp-add join node-node1 -- lsp-set-addresses node-node1 "00:00:00:00:64:02 100.64.0.2 fd00:100:64::2"
ovn-nbctl lr-route-add ovn-cluster 0.0.0.0/0 100.64.0.2
ovn-nbctl lr-route-add ovn-cluster ::/0 fd00:100:64::2
`

/** A pod's and a node's annotations about their address have the same keys. */
const keys = podAnnotations()

/**
 * A real node: OVN with the userspace data path in a container, the agent on it, and a real API server. The test plays
 * the controller: it makes the rows of the Northbound, and annotates Node and Pods.
 */
export class AgentNode implements AsyncDisposable {
  readonly api: KubeApi
  readonly machine: NodeContainer
  #barriers = 0

  private constructor(api: KubeApi, machine: NodeContainer) {
    this.api = api
    this.machine = machine
  }

  /** With Subnets, the Node and its rows; resolves when pods can be attached. */
  static async start(): Promise<AgentNode> {
    const [api, machine] = await Promise.all([sharedKubeApi(), NodeContainer.start()])
    await using stack = new AsyncDisposableStack()
    stack.use(machine)
    const agent = new AgentNode(api, machine)
    await machine.script(northbound)
    await agent.#createSubnet('join', { cidrBlock: '100.64.0.0/16,fd00:100:64::/112', natOutgoing: false })
    await agent.#createSubnet('ovn-default', {
      cidrBlock: '10.16.0.0/16,fd00:10:16::/112',
      natOutgoing: true,
    })
    await agent.#createNode()
    await agent.startAgent()
    stack.move()
    return agent
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.machine[Symbol.asyncDispose]()
  }

  /** Starts the agent, and waits until pods can be attached. */
  async startAgent(flags: readonly string[] = []): Promise<void> {
    // With the token of the agent's own pod, since policies hold it to the node of that.
    const kubeconfig = await this.api.accountKubeconfig('kube-system/kube-ovn-cni', 'kube-ovn-cni-1')
    await this.machine.startAgent(kubeconfig, 'node1', flags)
    await vi.waitFor(() => this.call('STATUS', ''), 90_000)
  }

  async #createNode(): Promise<void> {
    const { api, machine } = this
    const own = node({
      name: 'node1',
      addresses: [machine.address],
      annotations: allocation('100.64.0.2,fd00:100:64::2', '00:00:00:00:64:02', 'join'),
    })
    await api.client.create(nodes, own)
    await api.client.patch(
      nodes,
      { name: 'node1' },
      'application/merge-patch+json',
      { status: own.status },
      { subresource: 'status' },
    )
    const home = pod({ name: 'kube-ovn-cni-1', namespace: 'kube-system', node: 'node1', hostNetwork: true })
    await api.client.create(pods, { ...home, spec: { ...home.spec, serviceAccountName: 'kube-ovn-cni' } })
  }

  async #createSubnet(name: string, spec: { cidrBlock: string; natOutgoing: boolean }): Promise<void> {
    const { api } = this
    await api.client.create(subnetResource, subnet({ name, vpc: 'ovn-cluster', ...spec }))
    const conditions = [{ type: 'Validated', status: 'True', reason: 'Test', message: '' }]
    await api.client.patch(
      subnetResource,
      { name },
      'application/merge-patch+json',
      { status: { conditions } },
      { subresource: 'status' },
    )
  }

  /** Makes a pod with its namespace and its logical port, annotated as the controller does. */
  async createPod(name: string, index: number, mac = macOf(index)): Promise<Pod> {
    const { api, machine } = this
    await machine.script(`ip netns add ${name}; ip -n ${name} link set lo up`)
    const created = await api.client.create(pods, pod({ name, node: 'node1' }))
    const [v4, v6] = [`10.16.0.${index}`, `fd00:10:16::${index}`]
    await machine.script(
      `ovn-nbctl lsp-add ovn-default ${name}.default -- lsp-set-addresses ${name}.default "${mac} ${v4} ${v6}"`,
    )
    await api.client.patch(pods, { namespace: 'default', name }, 'application/merge-patch+json', {
      metadata: { annotations: allocation(`${v4},${v6}`, mac, 'ovn-default') },
    })
    return created
  }

  /** Calls the plugin as a runtime does, which must succeed. */
  async call(verb: string, pod: string): Promise<void> {
    const { exitCode, stdout, stderr } = await this.machine.plugin(verb, pod)
    if (exitCode !== 0) throw new TypeError(`${verb} of ${pod} failed with ${exitCode}: ${stderr}${stdout}`)
  }

  async attachPod(name: string, index: number): Promise<void> {
    await this.createPod(name, index)
    await this.call('ADD', name)
  }

  async detachPod(name: string): Promise<void> {
    await this.call('DEL', name)
    await this.deletePod(name)
  }

  async deletePod(name: string): Promise<void> {
    await this.api.client.remove(pods, { namespace: 'default', name }, { gracePeriodSeconds: 0 })
    await this.machine.script(
      `ip netns delete ${name} 2>/dev/null || true; ovn-nbctl --if-exists lsp-del ${name}.default`,
    )
  }

  async portsOf(name: string): Promise<string> {
    return this.machine.script(`ovs-vsctl --bare --columns=name find Interface external_ids:pod_name=${name}`)
  }

  /** Name of the host's end of a pod's first NIC. */
  async hostEndOf(name: string): Promise<string> {
    return this.machine.script(
      `ovs-vsctl --bare --columns=name find Interface external_ids:iface-id=${name}.default`,
    )
  }

  /** Whether it is answered. One packet that is lost, or is late on a busy machine, says nothing. */
  async ping(from: string, to: string): Promise<boolean> {
    const command = [...inNamespace(from), 'ping', '-c', '1', '-W', '2', to]
    for (let packet = 1; packet <= 3; packet++) {
      const { exitCode } = await this.machine.try(command)
      if (exitCode === 0) return true
    }
    return false
  }

  /** Pings without end; stopping it tells the sequence numbers that were answered, which begin with 1. */
  async startPing(from: string, to: string): Promise<{ readonly stop: () => Promise<readonly number[]> }> {
    const { machine } = this
    const script = `echo $$ > /run/ping.pid; exec ip netns exec ${from} ping -i 0.05 ${to}`
    const pinging = machine.try(['sh', '-c', script])
    await machine.script('until [ -s /run/ping.pid ]; do sleep 0.05; done')
    return {
      async stop() {
        await machine.script('kill -INT $(cat /run/ping.pid)')
        const { stdout } = await pinging
        return [...stdout.matchAll(/bytes from .*icmp_seq=(\d+)/g)].map(([, sequence]) => Number(sequence))
      },
    }
  }

  /** Lets a namespace know a MAC address of others, which does not end by itself while a test runs. */
  async remember(name: string, addresses: readonly string[], mac: string): Promise<void> {
    await this.machine.script(
      `for family in ipv4 ipv6; do
         ip netns exec ${name} sysctl -qw net.$family.neigh.eth0.base_reachable_time_ms=3600000
       done
       for address in ${addresses.join(' ')}; do
         ip -n ${name} neigh replace $address lladdr ${mac} dev eth0 nud reachable
       done`,
    )
  }

  async untilKnown(name: string, addresses: readonly string[], mac: string): Promise<void> {
    for (const address of addresses) {
      await until(async () =>
        (await this.machine.script(`ip -n ${name} neigh show ${address}`)).includes(`lladdr ${mac}`),
      )
    }
  }

  /** Events are sent one after the other: with the one of this pod, all before it are. */
  async untilEventsAreSent(): Promise<void> {
    const name = `barrier-${++this.#barriers}`
    await this.attachPod(name, 200 + this.#barriers)
    await this.call('DEL', name)
    await until(async () => (await this.eventReasons(name)).includes('PodNetworkRemoved'))
    await this.deletePod(name)
  }

  async eventReasons(name: string): Promise<readonly (string | undefined)[]> {
    return (await this.#eventsOf(name)).map(({ reason }) => reason)
  }

  async eventMessages(name: string): Promise<readonly (string | undefined)[]> {
    return (await this.#eventsOf(name)).map(({ message }) => message)
  }

  async #eventsOf(name: string): Promise<readonly CoreEvent[]> {
    const selection = { namespace: 'default', fieldSelector: `involvedObject.name=${name}` }
    return (await this.api.client.list(events, selection)).items
  }

  /** Serves a TCP port in a pod: it tells each client the client's address, padded so that segments are full. */
  async serveTcp(name: string, address: string, port: number): Promise<void> {
    const program = `
      require('net').createServer((socket) => socket.end(socket.remoteAddress + '\\n' + 'x'.repeat(100000)))
        .listen(${port}, '${address}', () => console.log('listening'))`
    await this.machine.script(
      `ip netns exec ${name} /opt/node/node -e "${program}" > /run/${name}-${port}.log 2>&1 &
       until grep -qs listening /run/${name}-${port}.log; do sleep 0.05; done`,
    )
  }

  /** Connects, reads to the end, and answers the address that the server saw. */
  async tcp(prefix: readonly string[], address: string, port: number): Promise<string> {
    const program = `
      let text = ''
      const socket = require('net').connect({ host: '${address}', port: ${port}, timeout: 20000 })
      socket.on('timeout', () => process.exit(1)).on('data', (chunk) => { text += chunk })
      socket.on('end', () => console.log(text.length > 100000 ? text.split('\\n')[0] : 'truncated'))`
    const { stdout, stderr } = await this.machine.try([...prefix, '/opt/node/node', '-e', program])
    return stdout.trim() || stderr
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  await vi.waitFor(async () => {
    if (!(await isSo())) throw new TypeError(`in vain waited for ${isSo.toString()}`)
  }, 60_000)
}

function allocation(addresses: string, mac: string, subnetName: string): Record<string, string> {
  const [cidr, gateway] =
    subnetName === 'join'
      ? ['100.64.0.0/16,fd00:100:64::/112', '100.64.0.1,fd00:100:64::1']
      : ['10.16.0.0/16,fd00:10:16::/112', '10.16.0.1,fd00:10:16::1']
  return {
    [keys.allocated.key]: 'true',
    [keys.routed.key]: 'true',
    [keys.ipAddress.key]: addresses,
    [keys.macAddress.key]: mac,
    [keys.cidr.key]: cidr,
    [keys.gateway.key]: gateway,
    [keys.logicalSwitch.key]: subnetName,
  }
}

export function macOf(index: number): string {
  return `00:00:00:00:16:${index.toString(16).padStart(2, '0')}`
}

export function inNamespace(name: string): readonly string[] {
  return ['ip', 'netns', 'exec', name]
}
