import {
  deleteAll,
  eventually,
  fetchText,
  ofStack,
  untilPodsReady,
  untilRolledOut,
  waitForObjects,
  type ApiClient,
  type ApiObject,
  type Place,
  type PodObject,
  type Stack,
} from '@kube-ovn/lab'
import { expect } from 'vitest'

interface ServiceObject extends ApiObject {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } }
}

interface Attached {
  readonly api: ApiClient
  readonly stack: Stack
  /** A host of the physical network that is in no cluster. */
  readonly outside: Place
}

const path = '/api/v1/namespaces/kiosk/services/kiosk'
const forwarders = 'app=lb-svc-kiosk'

/**
 * Expects that a Service in an attached network is reached from that network, at its declared port and no other one, that a changed port is
 * changed in the Pod that runs, and that a Pod that is made anew has the same address.
 */
export async function expectAttachedService({ api, stack, outside }: Attached): Promise<void> {
  await untilRolledOut(api, 'deployments', 'kiosk', 'kiosk')
  const backends = (await untilPodsReady(api, 'kiosk', 'app=kiosk', 2)).map(({ metadata }) => metadata.name)
  const addresses = ofStack(stack, { ipv4: '10.128.100.180', ipv6: 'fd00:10:128:100::180' })
  await waitForObjects<ServiceObject, true>(
    api,
    '/api/v1/namespaces/kiosk/services?fieldSelector=metadata.name%3Dkiosk',
    'the address of the Service is published',
    ([found]) =>
      found?.status?.loadBalancer?.ingress?.map(({ ip }) => ip).join() === addresses.join()
        ? true
        : undefined,
  )
  const untilServed = async (port: number): Promise<void> => {
    for (const address of addresses) {
      const page = await eventually(`a kiosk answers outside at ${address}, port ${port}`, () =>
        fetchText(outside, address, port),
      )
      expect(backends).toContain(page)
    }
  }
  const expectNobody = async (port: number): Promise<void> => {
    for (const address of addresses) expect(await fetchText(outside, address, port)).toBeUndefined()
  }
  await untilServed(80)
  // Its backends listen there, and only there.
  await expectNobody(8080)

  const [before] = await untilPodsReady(api, 'kiosk', forwarders, 1)
  const port = { name: 'http', port: 8088, targetPort: 8080, protocol: 'TCP' }
  await api.mergePatch(path, { spec: { ports: [port] } })
  await untilServed(8088)
  await expectNobody(80)
  const [after] = await untilPodsReady(api, 'kiosk', forwarders, 1)
  expect(after?.metadata.uid).toBe(before?.metadata.uid)

  await deleteAll(api, [before as PodObject])
  const [anew] = await untilPodsReady(api, 'kiosk', forwarders, 1)
  expect(anew?.metadata.uid).not.toBe(before?.metadata.uid)
  await untilServed(8088)
}
