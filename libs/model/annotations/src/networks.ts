import { formatIp, parseIp, parseMac, type DualStackIp, type Ip } from '@kube-ovn/ip'
import { annotation, splitNames } from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'

/** One further network that a Pod wants to be in. */
export interface NetworkSelection {
  /** Absent: the namespace of the Pod. */
  readonly namespace?: string
  /** Name of the NetworkAttachmentDefinition. */
  readonly name: string
  /** Name of the NIC in the Pod. */
  readonly interface?: string
  /** Addresses asked for. */
  readonly addresses?: DualStackIp
  /** MAC address asked for, as it is written. */
  readonly mac?: string
}

/**
 * Annotations of a Pod by which it asks Multus for NICs.
 *
 * @see "Kubernetes Network Custom Resource Definition De-facto Standard", version 1.3, section 4.1
 */
export const networkAnnotations = {
  /** NICs beside the first one. */
  further: annotation('k8s.v1.cni.cncf.io/networks', parseSelections, formatSelections),
  /** The first NIC, in place of the one in the cluster's network. */
  first: annotation('v1.multus-cni.io/default-network', parseSelections, formatSelections),
} as const

/** `<namespace>/<name>@<interface>`, of which the name is needed. */
const shortForm =
  /^(?:(?<namespace>[a-z0-9][-a-z0-9.]*)\/)?(?<name>[a-z0-9][-a-z0-9.]*)(?:@(?<nic>[^/\s@]{1,15}))?$/

function parseSelections(text: string, field: string): readonly NetworkSelection[] {
  const start = text.trimStart()
  if (start.startsWith('[') || start.startsWith('{')) return parseJson(text, field)
  return splitNames(text).map((item) => {
    const { namespace, name, nic } = shortForm.exec(item)?.groups ?? {}
    if (name === undefined) throw refused(field, item)
    return {
      ...(namespace === undefined ? {} : { namespace }),
      name,
      ...(nic === undefined ? {} : { interface: nic }),
    }
  })
}

function parseJson(text: string, field: string): readonly NetworkSelection[] {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw refused(field, text, cause)
  }
  return (Array.isArray(json) ? (json as readonly unknown[]) : [json]).map((item) => {
    if (typeof item !== 'object' || item === null) throw refused(field, text)
    return parseElement(item as Readonly<Record<string, unknown>>, text, field)
  })
}

function parseElement(
  item: Readonly<Record<string, unknown>>,
  text: string,
  field: string,
): NetworkSelection {
  const { name, namespace, interface: nic, ips = [], mac } = item
  if (typeof name !== 'string' || name === '' || !Array.isArray(ips)) throw refused(field, text)
  const addresses = (ips as readonly unknown[]).map((ip) => {
    if (typeof ip !== 'string') throw refused(field, text)
    return parseIp(ip.split('/')[0] ?? '', field)
  })
  return {
    name,
    ...(typeof namespace === 'string' && namespace !== '' ? { namespace } : {}),
    ...(typeof nic === 'string' && nic !== '' ? { interface: nic } : {}),
    ...(addresses.length === 0 ? {} : { addresses: byFamily(addresses, text, field) }),
    ...(typeof mac === 'string' && mac !== '' ? { mac: checked(mac, field) } : {}),
  }
}

/** @throws InvalidMacError */
function checked(mac: string, field: string): string {
  parseMac(mac, field)
  return mac
}

function byFamily(addresses: readonly Ip[], value: string, field: string): DualStackIp {
  const v4 = addresses.filter((address) => typeof address === 'number')
  const v6 = addresses.filter((address) => typeof address === 'bigint')
  if (v4.length > 1 || v6.length > 1) {
    throw new AnnotationInvalidError({ field, value, cure: 'give at most one address of each family in ips' })
  }
  const [first] = v4
  const [second] = v6
  return { ...(first === undefined ? {} : { v4: first }), ...(second === undefined ? {} : { v6: second }) }
}

function formatSelections(selections: readonly NetworkSelection[]): string {
  return JSON.stringify(
    selections.map(({ addresses, ...rest }) => ({
      ...rest,
      ...(addresses === undefined
        ? {}
        : {
            ips: [addresses.v4, addresses.v6].filter((ip) => ip !== undefined).map((ip) => formatIp(ip)),
          }),
    })),
  )
}

function refused(field: string, value: string, cause?: unknown): AnnotationInvalidError {
  const cure =
    'write <namespace>/<name>@<interface>, separated by commas, or a JSON list of objects with a name'
  return new AnnotationInvalidError({ field, value, cure }, { cause })
}
