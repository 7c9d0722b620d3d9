import { formatIp, parseIp, parseMac, type DualStackIp, type Ip } from '@kube-ovn/ip'
import { annotation, textAnnotation } from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'
import { fewWords } from './words.ts'

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

/** Annotation of a NetworkAttachmentDefinition: the device of a node, a resource by its name, that each Pod in the network takes. */
export const deviceAnnotation = textAnnotation('k8s.v1.cni.cncf.io/resourceName')

/** `<namespace>/<name>@<interface>`, of which the name is needed. Names of Kubernetes have at most 253 characters. */
const shortForm =
  /^(?:(?<namespace>[a-z0-9][-a-z0-9.]{0,252})\/)?(?<name>[a-z0-9][-a-z0-9.]{0,252})(?:@(?<nic>[^/\s@]{1,15}))?$/

/** How many further networks a Pod may ask for: each of them is a NIC. */
const mostSelections = 256

/** Of names of Kubernetes, and of a NIC (IFNAMSIZ, with its end). */
const longestName = 253
const longestNic = 15

function parseSelections(text: string, field: string): readonly NetworkSelection[] {
  const start = text.trimStart()
  if (start.startsWith('[') || start.startsWith('{')) return parseJson(text, field)
  return few(fewWords(text, ',', mostSelections), text, field).map((item) => {
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
  return few(Array.isArray(json) ? (json as readonly unknown[]) : [json], text, field).map((item) => {
    if (typeof item !== 'object' || item === null) throw refused(field, text)
    return parseElement(item as Readonly<Record<string, unknown>>, text, field)
  })
}

function few<T>(selections: readonly T[] | undefined, value: string, field: string): readonly T[] {
  if (selections !== undefined && selections.length <= mostSelections) return selections
  throw new AnnotationInvalidError({ field, value, cure: `ask for at most ${mostSelections} networks` })
}

function parseElement(
  item: Readonly<Record<string, unknown>>,
  text: string,
  field: string,
): NetworkSelection {
  const { name, namespace, interface: nic, ips = [], mac } = item
  if (typeof name !== 'string' || name === '' || !Array.isArray(ips)) throw refused(field, text)
  checkLength(name, longestName, field)
  if (typeof namespace === 'string') checkLength(namespace, longestName, field)
  if (typeof nic === 'string') checkLength(nic, longestNic, field)
  if (ips.length > mostAddresses) throw tooMany(text, field)
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

function checkLength(name: string, longest: number, field: string): void {
  if (name.length <= longest) return
  const cure = `write a name of at most ${longest} characters`
  throw new AnnotationInvalidError({ field, value: name, cure })
}

/** One of each family. */
const mostAddresses = 2

function tooMany(value: string, field: string): AnnotationInvalidError {
  return new AnnotationInvalidError({ field, value, cure: 'give at most one address of each family in ips' })
}

/** @throws InvalidMacError */
function checked(mac: string, field: string): string {
  parseMac(mac, field)
  return mac
}

function byFamily(addresses: readonly Ip[], value: string, field: string): DualStackIp {
  const v4 = addresses.filter((address) => typeof address === 'number')
  const v6 = addresses.filter((address) => typeof address === 'bigint')
  if (v4.length > 1 || v6.length > 1) throw tooMany(value, field)
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
