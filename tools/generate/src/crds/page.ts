import { type Definition, type JsonSchema, objectSchema } from '@kube-ovn/kube-api'
import { missingFeatures } from '@kube-ovn/no-effect'

/** The page that lists all kinds. */
export function renderIndex(definitions: readonly Definition[]): string {
  const rows = definitions.map(
    ({ resource, description }) =>
      `| [${resource.kind}](./${resource.plural}.md) | \`${resource.plural}\` | ${description} |`,
  )
  return `${generated}# Custom resources

All are of group \`kubeovn.io\`, version \`v1\`.

| Kind | Resource | Meaning |
| --- | --- | --- |
${rows.join('\n')}
`
}

/** The reference page of one kind: names, fields and columns. */
export function renderPage(definition: Definition): string {
  const { resource, shortNames, description, printerColumns } = definition
  const { spec, status } = objectSchema(definition).properties ?? {}
  const columns = printerColumns.map(({ name, jsonPath }) => `| ${name} | \`${jsonPath}\` |`)
  return `${generated}# ${resource.kind}

${description}

| | |
| --- | --- |
| API version | \`${resource.group}/${resource.version}\` |
| Resource | \`${resource.plural}\` |
| Short names | ${shortNames.map((name) => `\`${name}\``).join(', ')} |
| Scope | ${resource.namespaced ? 'namespaced' : 'cluster'} |
| Status subresource | ${definition.hasStatusSubresource ? 'yes' : 'no'} |

## Spec

${fieldTable(spec, missingOf(resource.kind))}
${status === undefined ? '' : `\n## Status\n\nWritten by the ${definition.servedBy ?? 'controller'}.\n\n${fieldTable(status)}\n`}
## Columns of kubectl get

| Column | From |
| --- | --- |
${columns.join('\n')}
`
}

const generated =
  '<!-- Generated from libs/model/kube-api by tools/generate/src/crds/main.ts. Do not edit. -->\n\n'

/** Fields that ask for what is not there yet. */
function missingOf(kind: string): ReadonlySet<string> {
  return new Set(kind === 'Subnet' ? missingFeatures.flatMap(({ subnet = [] }) => subnet) : [])
}

function fieldTable(schema: JsonSchema | undefined, missing: ReadonlySet<string> = new Set()): string {
  const rows = [...fieldRows(schema, '', missing)]
  return ['| Field | Type | Meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

function* fieldRows(
  schema: JsonSchema | undefined,
  prefix: string,
  missing: ReadonlySet<string>,
): Iterable<string> {
  for (const [name, field] of Object.entries(schema?.properties ?? {})) {
    const path = `${prefix}${name}`
    const isMissing = missing.has(path)
    const remarks = [
      field.description,
      ...defaultRemark(field),
      ...ruleRemarks(field),
      isMissing ? '[Not there yet](../../differences.md#not-there-yet).' : undefined,
    ].filter((text) => text !== undefined)
    yield `| \`${path}\` | ${typeName(field)} | ${remarks.join(' ').replaceAll('|', '\\|').replaceAll('<', '&lt;')} |`
    yield* fieldRows(
      field.type === 'array' ? field.items : field,
      `${path}${field.type === 'array' ? '[]' : ''}.`,
      missing,
    )
  }
}

function defaultRemark(field: JsonSchema): string[] {
  return field.default === undefined ? [] : [`Default: \`${field.default}\`.`]
}

function ruleRemarks(field: JsonSchema): string[] {
  const rules = field['x-kubernetes-validations'] ?? []
  return rules.map(({ message }) => `Refused when ${message}.`)
}

function typeName(field: JsonSchema): string {
  if (field.type === 'array') return `list of ${field.items === undefined ? 'values' : typeName(field.items)}`
  if (field.additionalProperties !== undefined) return `map of ${typeName(field.additionalProperties)}`
  return field.type
}
