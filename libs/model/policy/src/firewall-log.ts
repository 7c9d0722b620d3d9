import { aclLoggingAnnotation, type Annotations } from '@kube-ovn/annotations'
import type { KubeOvnError } from '@kube-ovn/errors'
import { aclSeverities, type AclSeverity } from './acl.ts'
import { PolicyInvalidError } from './errors.ts'
import { notingProblems } from './tried.ts'

/** How severe what an EgressFirewall does is in the log; what has no severity is not logged. */
export interface FirewallLog {
  readonly pass?: AclSeverity | undefined
  readonly drop?: AclSeverity | undefined
}

/** Packets a second that are logged of a namespace on each node, as many as OVN-Kubernetes has in its default. */
export const firewallLogRate = 20

/** What a Namespace says of the log of its EgressFirewall. What can not be read has nothing logged. */
export function readFirewallLog(annotations: Annotations | undefined): {
  readonly log: FirewallLog
  readonly problems: readonly KubeOvnError[]
} {
  const problems: KubeOvnError[] = []
  const tried = notingProblems(problems)
  const { allow, deny } = tried(() => aclLoggingAnnotation.read(annotations)) ?? {}
  const severityOf = (action: 'allow' | 'deny', text = ''): AclSeverity | undefined => {
    const severity = aclSeverities.find((known) => known === text)
    if (severity !== undefined || text === '') return severity
    const cure = `write ${aclSeverities.join(', ')}, or nothing; until then it is not logged`
    const field = `${aclLoggingAnnotation.key} ${action}`
    tried(() => {
      throw new PolicyInvalidError({ field, value: text, cure })
    })
    return undefined
  }
  const log = { pass: severityOf('allow', allow), drop: severityOf('deny', deny) }
  return { log, problems }
}
