"""What is found out about a kernel before its workgroup is written."""
