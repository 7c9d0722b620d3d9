import {
  applyAll,
  deleteAll,
  eventually,
  fetchText,
  importImages,
  readProbeImage,
  untilRolledOut,
  type ApiObject,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { annotation, namespace, patience } from './bgp-lab.ts'
import { learned } from './bgp-routers.ts'
import type { Routed } from './bgp-routed.ts'
import { servicePorts } from './long-talks.ts'
import { servers, service } from './service-traffic.ts'

const name = 'listening'

/** That those outside are served by Services. */
export function announcedServices(given: () => Routed): void {
  it('bring packets for a Service to a pod that listens', async () => {
    const { cluster, frr, host } = given()
    const front = service(name, namespace, {})
    const objects = [
      servers(name, namespace, 1),
      { ...front, metadata: { ...front.metadata, annotations: { [annotation]: 'true' } } },
    ]
    await using stack = new AsyncDisposableStack()
    stack.defer(() => deleteAll(cluster.api, objects))
    await importImages(cluster, [{ name: readProbeImage() }])
    await applyAll(cluster.api, objects)
    await untilRolledOut(cluster.api, 'deployments', namespace, name)
    const [made] = await cluster.api.list<ServiceObject>(
      `/api/v1/namespaces/${namespace}/services?fieldSelector=metadata.name%3D${name}`,
    )
    const { clusterIPs = [] } = made?.spec ?? {}
    expect(clusterIPs).toHaveLength(2)
    for (const address of clusterIPs) {
      const family = address.includes(':') ? 'ipv6' : 'ipv4'
      for (const router of [frr, host])
        await expect.poll(async () => (await learned(router, family)).has(address), patience).toBe(true)
      for (const { place, name: from } of [frr, host])
        await eventually(`${from} is served at ${address}`, async () =>
          fetchText(place, address, servicePorts.tcp),
        )
    }
  })
}

interface ServiceObject extends ApiObject {
  readonly spec: { readonly clusterIPs?: readonly string[] }
}
