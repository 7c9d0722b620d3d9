import { networkAnnotations, podAnnotations, type Provider } from '@kube-ovn/annotations'
import { type KubeOvnError, lineOf } from '@kube-ovn/errors'
import { InvalidIpFamilyError } from '@kube-ovn/ipam'

type Details = Readonly<Record<string, unknown>>

/**
 * Puts an error into one line for a user: which annotation is at fault, what is wrong, with which values, and what to do.
 *
 * @param provider of the NIC that it is about
 */
export function refusalText(error: KubeOvnError, provider?: Provider): string {
  const { cure, ...values } = error.details as Details
  const field = faultyAnnotation(error.code, values, provider)
  return lineOf(
    upstreamText(error) ?? error.message,
    field === undefined ? values : { field, ...values },
    cure,
  )
}

/** What upstream says of a family that the subnet does not have: programs look for it. */
function upstreamText(error: KubeOvnError): string | undefined {
  if (!(error instanceof InvalidIpFamilyError)) return undefined
  const { requested, subnet, offered } = error.details
  const protocol = offered.map((family) => `IPv${family}`).join(' and ')
  return `InvalidIPFamily: requested ip family IPv${requested} does not match subnet ${subnet} protocol ${protocol}`
}

/** The annotation by which the pod asked for what it can not have. IPAM knows addresses, and not where they came from. */
function faultyAnnotation(code: string, values: Details, provider?: Provider): string | undefined {
  const keys = podAnnotations(provider)
  switch (code) {
    case 'ipam-address-out-of-range':
      return keys.ipAddress.key
    case 'ipam-address-conflict':
      // With every free address to be avoided, none was asked for.
      return values['conflict'] === 'avoided' ? undefined : keys.ipAddress.key
    case 'ipam-mac-conflict':
      return keys.macAddress.key
    case 'ipam-invalid-ip-family':
      return keys.ipFamily.key
    case 'pod-subnet-unavailable':
      return keys.logicalSwitch.key
    case 'vip-not-lent':
      return podAnnotations(provider).borrowedVip.key
    case 'pod-network-unavailable':
    case 'pod-network-repeated':
      return networkAnnotations.further.key
    case 'pod-pool-unavailable':
    case 'pod-pool-entry-missing':
      return keys.ipPool.key
    case 'ipam-no-available-address':
      return values['pool'] === '' ? undefined : keys.ipPool.key
    default:
      return undefined
  }
}
