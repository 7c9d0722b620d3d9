import ts from 'typescript'

/** An error class as its source describes it. */
export interface ErrorClass {
  readonly name: string
  readonly code: string
  /** Retry class; `varies` when it is decided for each error. */
  readonly retry: string
  /** The doc comment in one line, without tags. */
  readonly meaning: string
}

interface Declared {
  readonly base: string | undefined
  readonly fields: ReadonlyMap<string, string>
  readonly meaning: string
}

/** Reads the classes with a code out of one file. What a class does not say, its base in the same file says. */
export function errorClasses(fileName: string, text: string): readonly ErrorClass[] {
  const file = ts.createSourceFile(fileName, text, ts.ScriptTarget.ESNext, true)
  const declared = new Map<string, Declared>()
  for (const statement of file.statements) {
    if (!ts.isClassDeclaration(statement) || statement.name === undefined) continue
    declared.set(statement.name.text, {
      base: baseOf(statement),
      fields: constantFields(statement),
      meaning: docComment(statement),
    })
  }
  return [...declared].flatMap(([name, { base, fields, meaning }]) => {
    const code = fields.get('code')
    if (base === undefined || code === undefined) return []
    return [{ name, code, retry: inherited(declared, name, 'retry'), meaning }]
  })
}

function inherited(classes: ReadonlyMap<string, Declared>, name: string, field: string): string {
  const found = classes.get(name)
  if (found === undefined) return 'varies'
  return found.fields.get(field) ?? inherited(classes, found.base ?? '', field)
}

function baseOf(declaration: ts.ClassDeclaration): string | undefined {
  const clause = declaration.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
  return clause?.types[0]?.expression.getText()
}

/** Fields whose value is a constant text. */
function constantFields(declaration: ts.ClassDeclaration): ReadonlyMap<string, string> {
  const fields = new Map<string, string>()
  for (const member of declaration.members) {
    if (!ts.isPropertyDeclaration(member)) continue
    const { initializer, name } = member
    if (initializer !== undefined && ts.isStringLiteral(initializer))
      fields.set(name.getText(), initializer.text)
  }
  return fields
}

function docComment(declaration: ts.ClassDeclaration): string {
  return ts
    .getJSDocCommentsAndTags(declaration)
    .filter(ts.isJSDoc)
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim()
}
