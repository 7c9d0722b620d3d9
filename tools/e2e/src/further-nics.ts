import {
  addressesOfPod,
  applyAll,
  deleteAll,
  furtherNetwork,
  idlePod,
  placeOf,
  startPing,
  takeDownPod,
  untilPodsReady,
  type Cluster,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { koOf } from './kubectl-ko/run-program.ts'

const ranges = {
  ipv4: { cidr: '10.97.0.0/24', address: '10.97.0.5', gateway: '10.97.0.1', ping: 'icmp', shownAs: 'IP' },
  ipv6: {
    cidr: 'fd00:10:97::/120',
    address: 'fd00:10:97::5',
    gateway: 'fd00:10:97::1',
    ping: 'icmp6',
    shownAs: 'IP6',
  },
}

/** NICs that pods have beside the first one, as people look at them. */
export function furtherNics(given: () => Cluster): void {
  it('are listened to by the name of their network, and apart from the first', async () => {
    const cluster = given()
    const family = cluster.topology.stack === 'ipv6' ? 'ipv6' : 'ipv4'
    const { cidr, address, gateway, ping: icmp, shownAs } = ranges[family]
    const network = furtherNetwork('seen', cidr)
    const ko = koOf(cluster.kubeconfig)
    await using stack = new AsyncDisposableStack()
    await applyAll(cluster.api, network.objects)
    stack.defer(() => deleteAll(cluster.api, network.objects.toReversed()))
    const annotations = {
      'k8s.v1.cni.cncf.io/networks': 'seen',
      [`${network.provider}.kubernetes.io/ip_address`]: address,
    }
    const wanted = idlePod({ name: 'seen', namespace: 'default', annotations })
    await applyAll(cluster.api, [wanted])
    stack.defer(() => takeDownPod(cluster.api, wanted))
    const [pod] = await untilPodsReady(cluster.api, 'default', 'app=seen', 1)
    if (pod === undefined) return expect.unreachable('one was waited for')
    const [first = ''] = addressesOfPod(pod)
    const other = cluster.nodes.find(({ name }) => name !== pod.spec.nodeName)
    for (const target of [other?.kubernetes[family] ?? expect.unreachable('there are two nodes'), gateway]) {
      const ping = startPing(placeOf(cluster, pod), target)
      stack.defer(async () => void (await ping.stop()))
    }
    const packets = (...words: readonly string[]) => ko('tcpdump', ...words, 'default/seen', '-c', '3', icmp)
    const own = await packets()
    expect(own.stdout).toContain(`${shownAs} ${first} > `)
    expect(own.stdout).not.toContain(address)
    const further = await packets('--provider', network.provider)
    expect(further.stdout).toContain(
      `${shownAs} ${address} > ${gateway}: ICMP${family === 'ipv6' ? '6,' : ''} echo request`,
    )
    expect(further.stdout).not.toContain(first)
    const unknown = await packets('--provider', 'unknown.default.ovn')
    expect(unknown.exitCode).toBe(1)
    expect(unknown.stderr).toContain('default/seen')
  })
}
