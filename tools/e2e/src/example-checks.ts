import { isIP } from 'node:net'
import {
  addressesOfPod,
  deleteAll,
  eventually,
  labelNodes,
  ofStack,
  untilPod,
  untilPodsReady,
  untilRolledOut,
  waitForObjects,
  type ApiClient,
  type ApiObject,
  type PodObject,
} from '@kube-ovn/lab'
import { expect } from 'vitest'
import { expectAnnouncedService } from './announced-service.ts'
import { expectAttachedService } from './attached-service.ts'
import { attachedTo, byName, isWithin, reservedIn, told } from './example-readings.ts'
import { fetchFrom, type SeenCluster } from './fetch-from.ts'
import type { SuiteCluster } from './suite-cluster.ts'
import { untilConnected } from './underlay.ts'

/** Expects that an example, which was just applied, does what it says. */
type ExampleCheck = (
  cluster: SeenCluster & Pick<SuiteCluster, 'lab'>,
  objects: readonly ApiObject[],
) => Promise<void>

interface IpObject extends ApiObject {
  readonly spec: { readonly ipAddress?: string }
}

interface IpPoolObject extends ApiObject {
  readonly spec: { readonly ips: readonly string[] }
  readonly status?: { readonly v4UsingIPs?: number; readonly v6UsingIPs?: number }
}

interface VipObject extends ApiObject {
  readonly status?: { readonly v4ip?: string; readonly v6ip?: string; readonly mac?: string }
}

interface RuleObject extends ApiObject {
  readonly status?: {
    readonly service?: string
    readonly ports?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

interface FirewallObject extends ApiObject {
  readonly status?: { readonly status?: string }
}

interface SubnetObject extends ApiObject {
  readonly status?: {
    readonly activateGateway?: string
    readonly mcastQuerierIP?: string
    readonly egress?: {
      readonly active?: readonly string[]
      readonly gateways?: readonly { readonly node: string }[]
    }
  }
}

const subnets = '/apis/kubeovn.io/v1/subnets'
const ips = '/apis/kubeovn.io/v1/ips'
const vips = '/apis/kubeovn.io/v1/vips'
const switchLbRules = '/apis/kubeovn.io/v1/switch-lb-rules'
const vpcDnses = '/apis/kubeovn.io/v1/vpc-dnses'
const ipPools = '/apis/kubeovn.io/v1/ippools'

/** By the name of the example; the first one has a suite of its own. */
export const exampleChecks: Readonly<Record<string, ExampleCheck>> = {
  async '02-static-address'({ api }) {
    const [pod] = await untilPodsReady(api, 'shop', 'app=fixed', 1)
    expect(told(pod, 'logical_switch')).toBe('stock')
    expect(told(pod, 'mac_address')).toBe('00:00:00:53:6B:B6')
    expect(addressesOfPod(pod as PodObject).join()).toBe(told(pod, 'ip_address'))
  },

  async '03-rolling-deployment'({ api }) {
    await untilRolledOut(api, 'deployments', 'fleet', 'fleet')
    const all = (await untilPodsReady(api, 'fleet', 'app=fleet', 20)).flatMap(addressesOfPod)
    expect(new Set(all).size).toBe(all.length)
  },

  async '04-address-lists'({ api }) {
    const members = await untilPodsReady(api, 'shop', 'app=ledger', 2)
    const entries = told(members[0], 'ip_pool')?.split(';')
    expect(byName(members).map((pod) => addressesOfPod(pod).join())).toEqual(entries)
  },

  async '05-ip-pools'({ api }) {
    for (const name of ['till', 'stall']) {
      const own = (await untilPodsReady(api, 'market', `app=${name}`, 2)).flatMap(addressesOfPod)
      const pool = await waitForObjects<IpPoolObject, IpPoolObject>(
        api,
        `${ipPools}?fieldSelector=metadata.name%3D${name}`,
        `IPPool ${name} counts the addresses of its pods`,
        ([found]) => {
          const { v4UsingIPs = 0, v6UsingIPs = 0 } = found?.status ?? {}
          return v4UsingIPs + v6UsingIPs === own.length ? found : undefined
        },
      )
      expect(own.filter((address) => !isWithin(address, pool.spec.ips))).toEqual([])
    }
  },

  async '06-vips'({ api }) {
    const names = ['customs', 'lighthouse', 'pilot', 'quay']
    const served = await waitForObjects<VipObject, readonly VipObject[]>(
      api,
      vips,
      'all Vips have addresses',
      (all) => {
        const ours = all.filter(
          ({ metadata, status }) => names.includes(metadata.name) && status?.mac !== undefined,
        )
        return ours.length === names.length ? ours : undefined
      },
    )
    const held = served.map(({ status }) =>
      [status?.v4ip, status?.v6ip].filter((ip) => ip !== undefined).join(),
    )
    expect(new Set(held).size).toBe(names.length)
    const [pilot] = await untilPodsReady(api, 'harbour', 'app=pilot', 1)
    const own = served.find(({ metadata }) => metadata.name === 'pilot')
    expect(addressesOfPod(pilot as PodObject)).toEqual(
      [own?.status?.v4ip, own?.status?.v6ip].filter((ip) => ip !== undefined),
    )
    expect(told(pilot, 'mac_address')).toBe(own?.status?.mac)
    const cranes = (await untilPodsReady(api, 'harbour', 'app=crane', 2)).flatMap(addressesOfPod)
    expect(cranes.filter((address) => held.flatMap((text) => text.split(',')).includes(address))).toEqual([])
  },

  async '07-reserved-addresses'({ api }, objects) {
    const [guest] = await untilPodsReady(api, 'hotel', 'app=guest', 1)
    expect(addressesOfPod(guest as PodObject)).toEqual(reservedIn(objects))
    await deleteAll(
      api,
      objects.filter(({ kind }) => kind === 'Pod'),
    )
    await untilPod(api, 'hotel', 'guest', 'is gone', (pod) => pod === undefined)
    const record = await api.call<IpObject>('GET', `${ips}/guest.hotel`)
    expect(record.spec.ipAddress).toBe(reservedIn(objects).join())
    await deleteAll(
      api,
      objects.filter(({ kind }) => kind === 'IP'),
    )
  },

  async '08-sticky-statefulset'({ api }) {
    const [before] = byName(await untilPodsReady(api, 'archive', 'app=shelf', 2))
    await deleteAll(api, [
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'shelf-0', namespace: 'archive' } },
    ])
    await untilPod(
      api,
      'archive',
      'shelf-0',
      'is another one',
      (pod) => pod?.metadata.uid !== before?.metadata.uid,
    )
    const [after] = byName(await untilPodsReady(api, 'archive', 'app=shelf', 2))
    expect(addressesOfPod(after as PodObject)).toEqual(addressesOfPod(before as PodObject))
    expect(told(after, 'mac_address')).toBe(told(before, 'mac_address'))
  },

  async '09-further-networks'({ api }) {
    const [pod] = await untilPodsReady(api, 'depot', 'app=forklift', 1)
    const record = await api.call<IpObject>('GET', `${ips}/forklift.depot.camera.depot`)
    expect(record.spec.ipAddress).toBe(told(pod, 'ip_address', 'camera.depot'))
    expect(told(pod, 'logical_switch', 'camera.depot')).toBeUndefined()
    expect(attachedTo(pod, 'depot/camera').join()).toBe(record.spec.ipAddress)
  },

  async '10-isolation'(cluster) {
    const { api } = cluster
    const [safe] = await untilPodsReady(api, 'vault', 'app=safe', 1)
    const [web] = await untilPodsReady(api, 'shop', 'app=web', 3)
    const [db] = await untilPodsReady(api, 'stock', 'app=db', 3)
    for (const address of addressesOfPod(safe as PodObject)) {
      const fetched = (from: PodObject | undefined, port: number): Promise<string> =>
        fetchFrom(cluster, from as PodObject, address, port).then(
          (page) => page.trim(),
          () => 'nothing',
        )
      await expect
        .poll(
          async () => [await fetched(web, 8080), await fetched(web, 9090), await fetched(db, 8080)],
          patience,
        )
        .toEqual(['safe', 'nothing', 'nothing'])
    }
  },

  async '11-two-vpcs'(cluster) {
    const { api } = cluster
    const red = byName(await untilPodsReady(api, 'red', 'app=same', 2))
    const blue = byName(await untilPodsReady(api, 'blue', 'app=same', 2))
    // Addresses are drawn from the lowest on, in both.
    const sorted = (pods: readonly PodObject[]) => pods.flatMap(addressesOfPod).toSorted()
    expect(sorted(red)).toEqual(sorted(blue))
    for (const pods of [red, blue]) {
      const [from, to] = pods
      for (const address of addressesOfPod(to as PodObject)) await untilServed(cluster, from, address, to)
    }
    const [redEdge] = await untilPodsReady(api, 'red', 'app=edge', 1)
    const [blueEdge] = await untilPodsReady(api, 'blue', 'app=edge', 1)
    for (const [from, to] of [
      [redEdge, blueEdge],
      [blueEdge, redEdge],
    ])
      for (const address of addressesOfPod(to as PodObject)) await untilServed(cluster, from, address, to)
  },

  async '12-services'({ api }) {
    await untilPodsReady(api, 'bank', 'app=counter', 2)
    await untilPod(api, 'bank', 'customer', 'was served', (pod) => pod?.status?.phase === 'Succeeded')
  },

  async '13-network-policies'({ api }) {
    // Their kubelets find them ready, although nobody else may ask them.
    await untilPodsReady(api, 'guarded', 'app=till', 2)
    await untilPodsReady(api, 'guarded', 'app=caller', 2)
  },

  async '14-services-of-a-vpc'({ api }) {
    await untilPodsReady(api, 'island', 'app=well', 2)
    await untilPod(api, 'island', 'traveller', 'was served', (pod) => pod?.status?.phase === 'Succeeded')
    const service = await api.call<ApiObject>('GET', '/api/v1/namespaces/island/services/well')
    expect(service.metadata.annotations?.['ovn.kubernetes.io/vpc']).toBe('island')
  },

  async '15-dhcp'(cluster) {
    const clients = byName(await untilPodsReady(cluster.api, 'guests', 'app=guest', 2))
    const [common, special] = clients.map((pod) => addressesOfPod(pod).find((address) => isIP(address) === 4))
    // The client is one of IPv4.
    if (cluster.stack === 'ipv6') return
    const leases = clients.map(async (pod) => (await fetchFrom(cluster, pod, '127.0.0.1')).trim())
    expect(await Promise.all(leases)).toEqual([
      `${common} 10.28.0.1 1400 600 10.96.0.10 8.8.8.8`,
      `${special} 10.28.0.1 1300 60`,
    ])
  },

  async '16-security-groups'(cluster) {
    const { api } = cluster
    const [till] = await untilPodsReady(api, 'bazaar', 'app=till', 1)
    const [customer] = await untilPodsReady(api, 'bazaar', 'app=customer', 1)
    const [passerBy] = await untilPodsReady(api, 'bazaar', 'app=passer-by', 1)
    for (const address of addressesOfPod(till as PodObject)) {
      const fetched = (from: PodObject | undefined): Promise<string> =>
        fetchFrom(cluster, from as PodObject, address, 8080).then(
          (page) => page.trim(),
          () => 'nothing',
        )
      await expect
        .poll(async () => [await fetched(customer), await fetched(passerBy)], patience)
        .toEqual(['till', 'nothing'])
    }
  },

  async '17-switch-lb-rule'({ api }) {
    await untilPod(api, 'harbour', 'pilot', 'was served', (pod) => pod?.status?.phase === 'Succeeded')
    for (const name of ['light', 'horn', 'bell']) {
      const path = `${switchLbRules}?fieldSelector=metadata.name%3D${name}`
      const rule = await waitForObjects<RuleObject, RuleObject>(
        api,
        path,
        `SwitchLBRule ${name} is ready`,
        ([found]) => (found !== undefined && isReady(found) ? found : undefined),
      )
      expect(rule.status).toMatchObject({ service: `harbour/slr-${name}`, ports: '80/TCP' })
    }
  },

  async '18-gateways'({ api }) {
    await untilRolledOut(api, 'daemonsets', 'export', 'carrier')
    const path = `${subnets}?fieldSelector=metadata.name%3Dexport`
    const isGateway = (found: SubnetObject | undefined): boolean =>
      (found?.status?.activateGateway ?? '') !== ''
    const subnet = await waitForObjects<SubnetObject, SubnetObject>(
      api,
      path,
      'a node is the gateway',
      ([found]) => (isGateway(found) ? found : undefined),
    )
    const { egress, activateGateway } = subnet.status ?? {}
    expect(egress?.active).toEqual([activateGateway])
    expect(egress?.gateways?.map(({ node }) => node)).toContain(activateGateway)
  },

  async '19-multicast'({ api }) {
    await untilRolledOut(api, 'daemonsets', 'radio', 'listener')
    const path = `${subnets}?fieldSelector=metadata.name%3Dradio`
    const { status } = await waitForObjects<SubnetObject, SubnetObject>(
      api,
      path,
      'the switch has a source of queries',
      ([found]) => ((found?.status?.mcastQuerierIP ?? '') === '' ? undefined : found),
    )
    expect(status?.mcastQuerierIP).toMatch(/^(10\.30\.0\.|fd00:10:30::)/)
  },

  async '20-underlay'({ api }) {
    await untilRolledOut(api, 'daemonsets', 'wharf', 'crane')
    const pods = await api.list<PodObject>('/api/v1/namespaces/wharf/pods?labelSelector=app%3Dcrane')
    expect(pods).not.toEqual([])
    for (const pod of pods) {
      expect(told(pod, 'vlan_id')).toBe('100')
      expect(told(pod, 'provider_network')).toBe('trunk')
      for (const address of addressesOfPod(pod)) expect(address).toMatch(/^(10\.128\.100\.|fd00:10:128:100:)/)
    }
    // Pods may run before that.
    const nodes = pods.map(({ spec }) => spec.nodeName)
    const { status } = await untilConnected(api, 'trunk', nodes)
    expect(status).toMatchObject({ vlans: ['vlan-100'] })
  },

  async '23-name-servers-of-a-vpc'({ api }) {
    const path = `${vpcDnses}?fieldSelector=metadata.name%3Dcove`
    await waitForObjects<RuleObject, true>(api, path, 'VpcDns cove is ready', ([found]) =>
      found !== undefined && isReady(found) ? true : undefined,
    )
    await untilPod(api, 'cove', 'guest', 'was answered', (pod) => pod?.status?.phase === 'Succeeded')
  },

  async '32-services-near-the-client'(cluster) {
    await untilRolledOut(cluster.api, 'daemonsets', 'station', 'kiosk')
    const pods = '/api/v1/namespaces/station/pods?labelSelector=app%3Dkiosk'
    const kiosks = await cluster.api.list<PodObject>(pods)
    expect(kiosks).not.toEqual([])
    const visit = (from: PodObject, address: string): Promise<string> =>
      // Slices follow the pods within a moment, and flows follow slices.
      eventually(`a kiosk answers at ${address}`, () =>
        fetchFrom(cluster, from, address, 80).then(
          (page) => page.trim(),
          () => undefined,
        ),
      )
    const untilOwn = async (addresses: readonly string[]): Promise<void> => {
      const pairs = kiosks.flatMap((from) => addresses.map((address) => ({ from, address })))
      await Promise.all(
        pairs.map(async ({ from, address }) => {
          // Hints, or an address from outside, come later than that.
          await expect.poll(() => visit(from, address), patience).toBe(from.spec.nodeName)
          for (let again = 0; again < 5; again++) expect(await visit(from, address)).toBe(from.spec.nodeName)
        }),
      )
    }
    await untilOwn(await clusterAddresses(cluster.api, 'station', 'kiosk'))
    await untilOwn(await clusterAddresses(cluster.api, 'station', 'near-kiosk'))
    // Of a given cluster nobody knows whether OVN serves these, or kube-proxy.
    if (cluster.lab === undefined) return
    const addresses = ofStack(cluster.stack, { ipv4: '192.0.2.91', ipv6: '2001:db8::91' })
    const status = { loadBalancer: { ingress: addresses.map((ip) => ({ ip })) } }
    await cluster.api.mergePatch('/api/v1/namespaces/station/services/front-kiosk/status', { status })
    await untilOwn(addresses)
  },

  async '33-address-outside'(cluster) {
    const { api } = cluster
    await using _gateways = await labelNodes(api, 'ovn.kubernetes.io/external-gw', 'true')
    await untilRolledOut(api, 'daemonsets', 'arcade', 'shop')
    const path = '/apis/kubeovn.io/v1/router-lb-rules?fieldSelector=metadata.name%3Darcade'
    const { status } = await waitForObjects<RuleObject, RuleObject>(
      api,
      path,
      'RouterLBRule arcade is ready',
      ([found]) => (found !== undefined && isReady(found) ? found : undefined),
    )
    expect(status).toMatchObject({ service: 'arcade/rlr-arcade', ports: '80/TCP' })
    const pods = await api.list<PodObject>('/api/v1/namespaces/arcade/pods?labelSelector=app%3Dshop')
    expect(pods).not.toEqual([])
    const addresses = ofStack(cluster.stack, { ipv4: '10.129.44.200', ipv6: 'fd00:10:128:300::200' })
    for (const pod of pods)
      for (const address of addresses) {
        const page = await eventually(`a shop answers at ${address}`, () =>
          fetchFrom(cluster, pod, address, 80).catch(() => undefined),
        )
        expect(pods.map(({ metadata }) => metadata.name)).toContain(page.trim())
      }
  },

  // Only labs have a physical network, and only there are examples applied that need one.
  async '34-address-in-a-network'({ api, stack, lab }) {
    if (lab === undefined) return expect.unreachable('there is no host outside')
    await expectAttachedService({ api, stack, outside: lab.outside.place })
  },

  async '35-doors-of-services'({ api }) {
    await untilPodsReady(api, 'tower', 'app=desk', 2)
    await untilPod(api, 'tower', 'visitor', 'went in', (pod) => pod?.status?.phase === 'Succeeded')
  },

  async '36-address-in-an-underlay'(cluster) {
    await expectAnnouncedService(cluster, cluster.lab ?? expect.unreachable('there is no host outside'))
  },

  async '37-health-checks'(cluster) {
    const { api } = cluster
    const [bright, dark] = byName(await untilPodsReady(api, 'tunnel', 'app=lamp', 2))
    const addresses = await clusterAddresses(api, 'tunnel', 'lamp')
    const pages = (): Promise<readonly string[]> =>
      Promise.all(
        Array.from({ length: 10 }, () => addresses)
          .flat()
          .map((address) =>
            fetchFrom(cluster, dark as PodObject, address, 80).then(
              (page) => page.trim(),
              () => 'nothing',
            ),
          ),
      )
    const seen = async (): Promise<readonly string[]> => [...new Set(await pages())]
    // Of twenty that were led to either, all are served in one of a million cases.
    await expect.poll(seen, patience).toEqual([bright?.metadata.name])
  },

  async '40-admin-policies'(cluster) {
    const { api } = cluster
    const [safe] = await untilPodsReady(api, 'vault', 'app=safe', 1)
    const [keeper] = await untilPodsReady(api, 'keepers', 'app=keeper', 1)
    const [stranger] = await untilPodsReady(api, 'default', 'app=stranger', 1)
    const fetched = (from: PodObject | undefined, address: string): Promise<string> =>
      fetchFrom(cluster, from as PodObject, address).then(
        (page) => page.trim(),
        () => 'nothing',
      )
    for (const address of addressesOfPod(safe as PodObject))
      await expect
        .poll(async () => [await fetched(keeper, address), await fetched(stranger, address)], patience)
        .toEqual(['safe', 'nothing'])
    for (const address of addressesOfPod(keeper as PodObject))
      await expect
        .poll(async () => [await fetched(stranger, address), await fetched(safe, address)], patience)
        .toEqual(['keeper', 'nothing'])
  },

  async '41-egress-firewall'(cluster) {
    const { api } = cluster
    const [desk] = await untilPodsReady(api, 'office', 'app=desk', 1)
    const [archive] = await untilPodsReady(api, 'office', 'app=archive', 1)
    for (const address of addressesOfPod(archive as PodObject))
      await untilServed(cluster, desk, address, archive)
    const path = '/apis/k8s.ovn.org/v1/namespaces/office/egressfirewalls'
    await waitForObjects<FirewallObject, true>(api, path, 'the firewall is in effect', ([found]) =>
      found?.status?.status === 'EgressFirewall Rules applied' ? true : undefined,
    )
  },

  async '42-policy-of-a-further-network'(cluster) {
    const { api } = cluster
    const [valve] = await untilPodsReady(api, 'plant', 'app=valve', 1)
    const [controller] = await untilPodsReady(api, 'plant', 'app=controller', 1)
    const [visitor] = await untilPodsReady(api, 'plant', 'app=visitor', 1)
    const onWire = attachedTo(valve, 'plant/wire')
    expect(onWire).toHaveLength(addressesOfPod(valve as PodObject).length)
    for (const address of onWire) {
      await untilServed(cluster, controller, address, valve)
      await untilServed(cluster, visitor, address, undefined)
    }
    // Elsewhere the policy is about nobody.
    for (const address of addressesOfPod(valve as PodObject))
      await untilServed(cluster, visitor, address, valve)
  },
}

async function clusterAddresses(api: ApiClient, namespace: string, name: string): Promise<readonly string[]> {
  const { spec } = await api.call<ApiObject & { readonly spec: { readonly clusterIPs: readonly string[] } }>(
    ...(['GET', `/api/v1/namespaces/${namespace}/services/${name}`] as const),
  )
  return spec.clusterIPs
}

/** Pods are Ready by flows of their own node; those of others follow. */
const patience = { timeout: 180_000, interval: 200 }

/** Waits until one pod is served by another one, which answers with its name; by nobody, if there is no other. */
async function untilServed(
  cluster: SeenCluster,
  from: PodObject | undefined,
  address: string,
  by: PodObject | undefined,
): Promise<void> {
  const page = (): Promise<string> =>
    fetchFrom(cluster, from as PodObject, address).then(
      (text) => text.trim(),
      () => 'nothing',
    )
  await expect.poll(page, patience).toBe(by?.metadata.name ?? 'nothing')
}

function isReady({ status }: RuleObject): boolean {
  return status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true
}
