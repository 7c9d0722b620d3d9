import { annotation, namesAnnotation } from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'
import { parseObject } from './json-object.ts'
import { mostWords, words } from './words.ts'

const prefix = 'ovn.kubernetes.io'

/** How many excluded addresses are read, of all Subnets together. */
const mostExcluded = 4096

/** The annotations of a Namespace. The controller writes all of them. */
export const namespaceAnnotations = {
  /** Names of the Subnets in which Pods get addresses, tried in this order. */
  logicalSwitch: namesAnnotation(`${prefix}/logical_switch`),
  /** `spec.cidrBlock` of each of them. */
  cidr: annotation(`${prefix}/cidr`, splitGroups, (blocks) => blocks.join(';')),
  /** `spec.excludeIps` of each of them. */
  excludeIps: annotation(
    `${prefix}/exclude_ips`,
    (text, field): readonly (readonly string[])[] => {
      const groups = splitGroups(text, field)
      const all = words(text.replaceAll(';', ','), ',').take(mostExcluded + 1)
      if ([...all].length > mostExcluded) throw tooMany(text, field, mostExcluded)
      return groups.map((group) => [...words(group, ',')])
    },
    (groups: readonly (readonly string[])[]) => groups.map((group) => group.join(',')).join(';'),
  ),
  /** Names of the IPPools from which Pods get addresses, if there are any, tried in this order. */
  ipPool: namesAnnotation(`${prefix}/ip_pool`),
} as const

/** What OVN-Kubernetes calls the log of a Namespace: how severe what is allowed is, and what is denied. */
export interface AclLogging {
  readonly allow?: string
  readonly deny?: string
}

/** Has what the EgressFirewall of a Namespace does logged. Users set it. */
export const aclLoggingAnnotation = annotation(
  'k8s.ovn.org/acl-logging',
  parseLogging,
  (logging: AclLogging) => JSON.stringify(logging),
)

function parseLogging(text: string, field: string): AclLogging {
  if (text === '') return {}
  const refused = { field, value: text, cure: 'write JSON like {"deny":"alert","allow":"info"}' }
  const { allow = '', deny = '' } = parseObject(refused)
  if (typeof allow !== 'string' || typeof deny !== 'string') throw new AnnotationInvalidError(refused)
  return { allow, deny }
}

function splitGroups(text: string, field: string): readonly string[] {
  if (text === '') return []
  const groups = text.split(';', mostWords + 1)
  if (groups.length > mostWords) throw tooMany(text, field, mostWords)
  return groups
}

function tooMany(value: string, field: string, most: number): AnnotationInvalidError {
  return new AnnotationInvalidError({ field, value, cure: `list at most ${most}` })
}
