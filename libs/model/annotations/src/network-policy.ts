import { annotation, flagAnnotation, namesAnnotation, textAnnotation } from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'

const prefix = 'ovn.kubernetes.io'

/** The annotations of a NetworkPolicy. Users set them. */
export const networkPolicyAnnotations = {
  /** What the policy drops is logged. */
  enableLog: flagAnnotation(`${prefix}/enable_log`),
  /** With `allow` among them, what the policy allows is logged as well. */
  logActions: namesAnnotation(`${prefix}/log_acl_actions`),
  /** How many packets a second are logged at most, in each direction. */
  meterRate: annotation(`${prefix}/acl_log_meter_rate`, parseRate, String),
  /** `lax`: only TCP, UDP and SCTP are restricted. */
  enforcement: textAnnotation(`${prefix}/network_policy_enforcement`),
  /** The networks that it is about: `ovn` for the first one, `namespace/name` for others. */
  networks: namesAnnotation(`${prefix}/network_policy_for`),
} as const

/** The annotation of a MultiNetworkPolicy. Users set it. */
export const multiNetworkPolicyAnnotations = {
  /** The networks that it is about: `namespace/name`, or `name` of one in its own namespace. */
  networks: namesAnnotation('k8s.v1.cni.cncf.io/policy-for'),
} as const

/** The rate of a meter band is a number of 32 bits (ovn-nb(5), Meter_Band). */
const highestRate = 2 ** 32 - 1

function parseRate(text: string, field: string): number {
  const rate = /^\d{1,10}$/.test(text) ? Number(text) : 0
  if (rate > 0 && rate <= highestRate) return rate
  throw new AnnotationInvalidError({
    field,
    value: text,
    cure: 'write a number of packets a second, 1 or more',
  })
}
