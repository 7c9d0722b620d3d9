import { z } from 'zod'
import { conditionSchema } from './conditions.ts'
import type { Definition } from './definition.ts'
import { list } from './fields.ts'
import { group, version } from './api-group.ts'
import type { KubeObject, Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'

/** A name as its resolver has it: from the root, in small letters, with at least two labels. The first may be `*`, for any one label. */
export const domainPattern = /^(\*\.)?([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.){2,}$/

/** The longest name, with the dot of the root. */
export const longestDomain = 254

function domain(description: string) {
  return z.string().regex(domainPattern).meta({ description, maxLength: longestDomain })
}

const spec = z.object({
  name: domain(
    'The name that is asked for, with a dot at its end. Instead of its first label there may be *, which stands for any one label.',
  ).meta({ 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'spec.name is immutable' }] }),
})

const resolvedAddress = z.object({
  ip: z.string().meta({ description: 'An address that was answered.' }),
  ttlSeconds: z.int().meta({ description: 'For how long it is valid.', format: 'int32' }),
  lastLookupTime: z.string().meta({ description: 'When it was answered.', format: 'date-time' }),
})

const resolvedName = z.object({
  dnsName: domain('The name that was asked for: with * in spec.name one of those that it stands for.'),
  resolvedAddresses: z.array(resolvedAddress).meta({
    description: 'Addresses that were answered, also those that are no more.',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['ip'],
  }),
  resolutionFailures: z
    .int()
    .optional()
    .meta({ description: 'How often in a row nothing was answered.', format: 'int32' }),
  conditions: list('Degraded, while nothing is answered.', conditionSchema),
})

const status = z.object({
  resolvedNames: z
    .array(resolvedName)
    .optional()
    .meta({
      description: 'Names that were asked for.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['dnsName'],
    }),
})

/** What name servers answered for a name. The plugin `dnsnameresolver` of CoreDNS writes its status. */
export interface DnsNameResolver extends KubeObject {
  readonly spec?: DeepReadonly<z.infer<typeof spec>>
  readonly status?: DeepReadonly<z.infer<typeof status>>
}

export const dnsNameResolverResource: Resource<DnsNameResolver> = {
  group,
  version,
  kind: 'DNSNameResolver',
  plural: 'dnsnameresolvers',
  namespaced: false,
}

export const dnsNameResolverDefinition: Definition = {
  resource: dnsNameResolverResource,
  singular: 'dnsnameresolver',
  shortNames: ['dnr'],
  description:
    'The addresses of a DNS name. The controller makes one for each name in a policy, and CoreDNS fills it.',
  statusBy: 'CoreDNS',
  spec,
  status,
  hasStatusSubresource: true,
  printerColumns: [
    { name: 'DNS Name', type: 'string', jsonPath: '.spec.name' },
    { name: 'Resolved IPs', type: 'string', jsonPath: '.status.resolvedNames[*].resolvedAddresses[*].ip' },
  ],
}
