import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import * as strings from './strings.ts';

const folder = import.meta.dirname;

/** Attributes that a person reads or hears. */
const read = new Set(['aria-label', 'aria-description', 'data-tip', 'placeholder', 'title', 'alt']);

/** Letters outside of names of files and addresses, which are the same in every language. */
function isText(text: string): boolean {
  return /\p{L}/u.test(text.replaceAll(/\b[\w-]+\.(toml|json)\b|https?:\S+|\b[nt]\b/g, ''));
}

/** The texts that a panel shows and that stand in its own file. */
function ownTexts(source: string): readonly string[] {
  const found: string[] = [];
  const add = (text: string) => {
    if (isText(text)) found.push(text.trim());
  };
  /** What an expression gives to be shown: literals, and those of the branches of a choice. */
  const shown = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) add(node.text);
    else if (ts.isTemplateExpression(node)) {
      add(
        [node.head, ...node.templateSpans.map(({ literal }) => literal)].map((p) => p.text).join(),
      );
    } else if (ts.isConditionalExpression(node)) {
      shown(node.whenTrue);
      shown(node.whenFalse);
    } else if (ts.isBinaryExpression(node)) shown(node.right);
    else visit(node);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node)) add(node.text);
    else if (ts.isJsxAttribute(node) && node.initializer && read.has(node.name.getText())) {
      if (ts.isJsxExpression(node.initializer)) visit(node.initializer);
      else shown(node.initializer);
    } else if (ts.isJsxExpression(node) && node.expression) {
      const attribute = ts.isJsxAttribute(node.parent) ? node.parent.name.getText() : null;
      if (attribute === null || read.has(attribute)) shown(node.expression);
      else visit(node.expression);
    } else ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('x.tsx', source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX));
  return found;
}

describe('the texts of the page', () => {
  it('are found where a panel has its own, and only there', () => {
    expect(ownTexts('<p>Hello</p>')).toEqual(['Hello']);
    expect(ownTexts('<p aria-label="Close" className="card" />')).toEqual(['Close']);
    expect(ownTexts("<b title={on ? 'On' : off}>{done && 'Done'}</b>")).toEqual(['On', 'Done']);
    expect(ownTexts('<p title={`Step $' + '{t}`} />')).toEqual(['Step ,']);
    expect(ownTexts("<p id={'x'}>{say.step(t)}, {n} · config.toml</p>")).toEqual([]);
  });

  it('stand in strings.ts alone, and not in a panel', () => {
    const panels = readdirSync(folder).filter((name) => name.endsWith('.tsx'));
    const own = panels.map((name) => [name, ownTexts(readFileSync(join(folder, name), 'utf8'))]);
    expect(panels.length).toBeGreaterThan(40);
    expect(own.filter(([, texts]) => texts?.length)).toEqual([]);
  });

  it('are each shown somewhere', () => {
    const { nouns: _, terms: __, methods: ___, ...panels } = strings;
    const sources = readdirSync(folder)
      .filter((name) => /(?<!\.test)\.tsx?$/.test(name))
      .map((name) => readFileSync(join(folder, name), 'utf8'));
    const unused = Object.entries(panels).flatMap(([panel, texts]) => {
      const reads = new RegExp(`import \\{[^}]*\\b${panel} as say`);
      const readers = sources.filter((source) => reads.test(source));
      const isUsed = (key: string) => readers.some((s) => new RegExp(`say\\.${key}\\b`).test(s));
      return Object.keys(texts)
        .filter((key) => !isUsed(key))
        .map((key) => `${panel}.${key}`);
    });
    expect(unused).toEqual([]);
  });
});
