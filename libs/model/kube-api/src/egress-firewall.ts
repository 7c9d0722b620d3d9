import { z } from 'zod'
import type { Definition } from './definition.ts'
import { generation, labelSelector, text } from './fields.ts'
import type { KubeObject, LabelSelector, Resource } from './core/index.ts'
import type { DeepReadonly } from './deep-readonly.ts'

const port = z.object({
  protocol: z.string().meta({ description: 'TCP, UDP or SCTP.' }),
  port: z.int().meta({ description: 'Destination port, 1 to 65535.' }),
})

const destination = z
  .object({
    cidrSelector: text('A prefix, e.g. 192.0.2.0/24 or 2001:db8::/32.'),
    dnsName: text('A DNS name. Instead of its first label there may be *, which stands for any one label.'),
    nodeSelector: labelSelector
      .optional()
      .meta({ description: 'The nodes whose addresses are meant; an empty one selects all.' }),
  })
  .meta({ description: 'Where to: exactly one of the fields.' })

const rule = z.object({
  type: z.string().meta({ description: 'Allow or Deny.' }),
  to: destination,
  ports: z
    .array(port)
    .optional()
    .meta({ description: 'Destination ports; without any the rule is about all traffic.' }),
})

const spec = z.object({
  egress: z.array(rule).meta({
    description: 'What the Pods of the namespace may ask for. The first rule that matches decides.',
  }),
})

const status = z.object({
  observedGeneration: generation,
  status: text('Whether all rules are in effect.'),
  messages: z
    .array(z.string())
    .optional()
    .meta({ description: 'What is not in effect, and what would be right.' }),
})

type Rule = DeepReadonly<z.infer<typeof rule>>

export interface EgressFirewallRule extends Omit<Rule, 'to'> {
  readonly to: Omit<Rule['to'], 'nodeSelector'> & { readonly nodeSelector?: LabelSelector }
}

/** Where the pods of a namespace may go outside of the cluster. Definition and group are OVN-Kubernetes' own. */
export interface EgressFirewall extends KubeObject {
  readonly spec?: { readonly egress: readonly EgressFirewallRule[] }
  readonly status?: DeepReadonly<z.infer<typeof status>>
}

export const egressFirewallResource: Resource<EgressFirewall> = {
  group: 'k8s.ovn.org',
  version: 'v1',
  kind: 'EgressFirewall',
  plural: 'egressfirewalls',
  namespaced: true,
}

/** The only name that counts in a namespace. */
export const egressFirewallName = 'default'

/** Reasons of events. */
export const egressFirewallReason = {
  /** Parts of the specification have no effect. */
  invalid: 'EgressFirewallInvalid',
} as const

export const egressFirewallDefinition: Definition = {
  resource: egressFirewallResource,
  singular: 'egressfirewall',
  shortNames: [],
  description: 'Where the Pods of its namespace may go outside of the cluster. It is called default.',
  spec,
  status,
  hasStatusSubresource: true,
  printerColumns: [{ name: 'EgressFirewall Status', type: 'string', jsonPath: '.status.status' }],
}
