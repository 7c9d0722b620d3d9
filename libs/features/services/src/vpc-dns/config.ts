import { refusalOf } from '@kube-ovn/errors'
import { formatIpList, parseIp, parseIpList, type Ip } from '@kube-ovn/ip'
import { VpcDnsInvalidError, VpcDnsOffError } from './errors.ts'

/** What goes for all VpcDnses. */
export interface DnsConfig {
  /** The address under which name servers are found in each Vpc, in canonical text. */
  readonly vip: string
  readonly image: string
  /** NetworkAttachmentDefinition, in the namespace `default`, of the NIC by which the API server is reached. */
  readonly network: string
  /** Empty: the one that follows from the network. */
  readonly provider: string
  readonly apiServer: Ip
  /** What the name servers are told of it; each is absent where nobody wrote it: Kubernetes tells them then. */
  readonly host: string | undefined
  readonly port: string | undefined
}

/** Where what is not written comes from. */
export interface DnsDefaults {
  /** `namespace/name` of the ConfigMap. */
  readonly place: string
  /** That of the cluster's own name servers. */
  readonly image: string | undefined
  /** The address of the API server as the controller sees it. */
  readonly apiServer: string | undefined
}

export type ConfigData = Readonly<Record<string, string>>

const yes = ['1', 't', 'T', 'true', 'TRUE', 'True']
const no = ['0', 'f', 'F', 'false', 'FALSE', 'False']

/**
 * Reads what goes for all VpcDnses.
 *
 * @throws VpcDnsOffError when it says that there are to be none
 * @throws VpcDnsInvalidError that names the key
 */
export function readConfig(data: ConfigData, defaults: DnsDefaults): DnsConfig {
  checkIsOn(data, defaults.place)
  const written = (key: string): string => data[key]?.trim() ?? ''
  const refuse = (key: string, value: string, what: string): never => {
    const cure = `write ${what} into ${key} of the ConfigMap ${defaults.place}`
    throw new VpcDnsInvalidError({ field: `data.${key}`, value, cure })
  }
  const reading = <T>(key: string, value: string, what: string, read: () => T): T => {
    try {
      return read()
    } catch (error) {
      const { cure } = refusalOf(error)
      return refuse(key, value, `${what} (${cure})`)
    }
  }
  const vip = written('coredns-vip')
  const vips = reading('coredns-vip', vip, 'the address of the name servers', () => parseIpList(vip))
  const image = written('coredns-image') || (defaults.image ?? '')
  if (!/^\S{1,512}$/.test(image)) refuse('coredns-image', image, 'the image of CoreDNS')
  const network = written('nad-name')
  if (network === '')
    refuse('nad-name', network, 'the name of a NetworkAttachmentDefinition of the namespace default')
  const host = written('k8s-service-host')
  const address = host || (defaults.apiServer ?? '')
  const apiServer = reading('k8s-service-host', address, 'the address of the API server', () =>
    parseIp(address),
  )
  const port = written('k8s-service-port')
  if (port !== '' && !isPort(port))
    refuse('k8s-service-port', port, 'the port of the API server, from 1 to 65535,')
  return {
    ...{ vip: formatIpList(vips), image, network, provider: written('nad-provider'), apiServer },
    host: host === '' ? undefined : host,
    port: port === '' ? undefined : port,
  }
}

function checkIsOn(data: ConfigData, place: string): void {
  const key = 'enable-vpc-dns'
  const text = data[key]?.trim() ?? ''
  if (text === '' || yes.includes(text)) return
  const field = `data.${key}`
  if (no.includes(text)) {
    const cure = `write true into ${key} of the ConfigMap ${place}, or remove the key`
    throw new VpcDnsOffError({ field, value: text, cure })
  }
  const cure = `write true or false into ${key} of the ConfigMap ${place}`
  throw new VpcDnsInvalidError({ field, value: text, cure })
}

const mostPort = 65_535

function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= mostPort
}
