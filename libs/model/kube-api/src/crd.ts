import { z } from 'zod'
import type { Definition } from './definition.ts'
import type { CelRule } from './fields.ts'

/** The part of OpenAPI v3 that structural schemas of Kubernetes use, as far as ours do. */
export interface JsonSchema {
  type: 'object' | 'array' | 'string' | 'boolean' | 'number' | 'integer'
  description?: string
  format?: string
  default?: boolean
  minimum?: number
  maximum?: number
  maxLength?: number
  pattern?: string
  required?: string[]
  properties?: Record<string, JsonSchema>
  additionalProperties?: JsonSchema
  items?: JsonSchema
  'x-kubernetes-validations'?: readonly CelRule[]
}

/** The schema of a whole object, as `kubectl explain` and the reference pages show it. */
export function objectSchema(definition: Definition): JsonSchema {
  return {
    type: 'object',
    description: definition.description,
    properties: {
      apiVersion: { type: 'string', description: 'Version of the schema that the object is written in.' },
      kind: { type: 'string', description: 'Kind of the object.' },
      metadata: { type: 'object' },
      spec: { description: 'What is wanted.', ...structuralSchema(definition.spec) },
      ...(definition.status === undefined
        ? {}
        : {
            status: {
              description: `What ${definition.statusBy ?? `the ${definition.servedBy ?? 'controller'}`} found.`,
              ...structuralSchema(definition.status),
            },
          }),
    },
  }
}

/** The CustomResourceDefinition (apiextensions.k8s.io/v1) that declares the resource. */
export function customResourceDefinition(definition: Definition): object {
  const { resource, singular, shortNames } = definition
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${resource.plural}.${resource.group}` },
    spec: {
      group: resource.group,
      scope: resource.namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: resource.kind,
        listKind: `${resource.kind}List`,
        plural: resource.plural,
        singular,
        shortNames,
      },
      versions: [
        {
          name: resource.version,
          served: true,
          storage: true,
          ...(definition.hasStatusSubresource ? { subresources: { status: {} } } : {}),
          additionalPrinterColumns: definition.printerColumns,
          schema: { openAPIV3Schema: objectSchema(definition) },
        },
      ],
    },
  }
}

/** What Kubernetes knows of a schema: no unions, no bounds that only JavaScript has. */
function structuralSchema(schema: z.ZodObject): JsonSchema {
  const json = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
    override({ jsonSchema }) {
      // The only union is number | bigint, one type on the wire.
      if (jsonSchema.anyOf !== undefined) {
        delete jsonSchema.anyOf
        jsonSchema.type = 'number'
      }
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
  return json as JsonSchema
}
