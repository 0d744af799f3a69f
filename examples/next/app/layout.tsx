export default function Layout({ children }: { readonly children: React.ReactNode }) {
  return (
    <html>
      <body>{children}</body>
    </html>
  )
}
