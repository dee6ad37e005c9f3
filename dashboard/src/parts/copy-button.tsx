import { useState, type ReactNode } from 'react'
import { words } from '../words/common.js'
import { Button } from './button.js'

/** Copies a text. Works without HTTPS too, where browsers have no clipboard. */
export function CopyButton({ text, label = words.copy }: { text: string; label?: string }): ReactNode {
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    setCopied(await copyText(text))
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <Button tone="quiet" onClick={() => void copy()}>
      <span aria-live="polite">{isCopied ? words.copied : label}</span>
    </Button>
  )
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

/** The old way: the browser copies what is selected. Inside an open dialog, the field must be in it to take the focus. */
function copyBySelection(text: string): boolean {
  const before = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.className = 'visually-hidden'
  const place = document.querySelector('dialog[open]') ?? document.body
  place.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  return isCopied
}
